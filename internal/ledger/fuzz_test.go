package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// The fuzz targets start from the seeds in testdata/fuzz and those here. All but the first receive
// the content behind the seal, so that no checksum is in the way.

const fuzzCluster = "5f0c1d2e-9a8b-4c7d-8e6f-001122334455"

func FuzzLoad(f *testing.F) {
	for name, data := range samples(f) {
		f.Add(name, data)
	}
	f.Add("open-00.parquet", []byte("gpupool-ledger 5 open-00.parquet "+fuzzCluster+" 99999999999999999999 00\n"))
	f.Add("closed-2026-11-20_1of2.parquet", []byte("gpupool-ledger 99"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		l, problems, err := Load(fuzzCluster, map[string][]byte{name: data}, 1)
		switch {
		case err != nil && (l != nil || problems != nil):
			t.Fatalf("an error beside a ledger: %v", err)
		case err == nil && l.Len() > 0:
			again(t, l)
		}
	})
}

// FuzzIntervals reads any bytes as a document of records. What it accepts can be written and read
// again without a change.
func FuzzIntervals(f *testing.F) {
	for name, data := range samples(f) {
		if strings.HasSuffix(name, document.Extension) {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		again(t, loadUnsealed(t, "closed-2026-11-20"+document.Extension, data))
	})
}

// FuzzBindings reads any bytes as the document of bindings. What it accepts can be written and read
// again without a change.
func FuzzBindings(f *testing.F) {
	f.Add(samples(f)["bound"])
	f.Fuzz(func(t *testing.T, data []byte) {
		l := loadUnsealed(t, "bound", data)
		documents, err := l.bindings.documents(fuzzCluster)
		if err != nil || len(documents) != 1 {
			return // too large for one
		}
		read := loadUnsealed(t, "bound", documents[0].Data)
		if len(read.bindings.of) != len(l.bindings.of) {
			t.Fatalf("%d bindings of %d could be read again", len(read.bindings.of), len(l.bindings.of))
		}
		for uid, b := range l.bindings.of {
			same := read.bindings.of[uid]
			if x, y := b.frozen(), same.frozen(); compareFrozen(&x, &y) != 0 {
				t.Fatalf("read again it differs: %+v, %+v", b, same)
			}
		}
	})
}

// FuzzNodes reads any bytes as the document of nodes, as FuzzBindings does.
func FuzzNodes(f *testing.F) {
	f.Add(samples(f)["nodes"])
	f.Fuzz(func(t *testing.T, data []byte) {
		l := loadUnsealed(t, "nodes", data)
		documents, err := l.nodes.documents(fuzzCluster)
		if err != nil || len(documents) != 1 {
			return
		}
		read := loadUnsealed(t, "nodes", documents[0].Data)
		if len(read.nodes.of) != len(l.nodes.of) {
			t.Fatalf("%d nodes are read again, want %d", len(read.nodes.of), len(l.nodes.of))
		}
		for uid, n := range l.nodes.of {
			if same := read.nodes.of[uid]; !n.equal(&same) {
				t.Fatalf("read again it differs: %+v, %+v", n, same)
			}
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add(samples(f)[document.HeaderName])
	f.Add([]byte(`{"documents":null,"gaps":[{"from_ms":1,"to_ms":5,"gpus":"1/3"},{"from_ms":3,"to_ms":4,"gpus":"1e999999999"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, listed, err := decodeHeader(fuzzCluster, document.Document{Name: document.HeaderName, Data: data})
		if err != nil {
			return
		}
		written, err := encodeHeader(h, listed)
		if err != nil {
			return // too large
		}
		h, listed, err = decodeHeader(fuzzCluster, document.Document{Name: document.HeaderName, Data: written.Data})
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		twice, err := encodeHeader(h, listed)
		if err != nil || !bytes.Equal(written.Data, twice.Data) {
			t.Fatalf("written again it differs: %v\n%s\n%s", err, written.Data, twice.Data)
		}
	})
}

// loadUnsealed loads one document and ignores its seal.
func loadUnsealed(t *testing.T, name string, data []byte) *Ledger {
	t.Helper()
	l := loading{Ledger: New(fuzzCluster)}
	var damaged *document.DamagedError
	var newer *document.NewerError
	if err := l.shard(document.Document{Name: name, Data: data}); err != nil && !errors.As(err, &damaged) && !errors.As(err, &newer) {
		t.Fatal(err)
	}
	return l.Ledger
}

func again(t *testing.T, l *Ledger) {
	t.Helper()
	written := New(fuzzCluster)
	if err := written.Join(l); err != nil {
		t.Fatalf("what was read cannot be merged: %v", err)
	}
	changes, err := written.Changes()
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{}
	for _, d := range changes.Write {
		documents[d.Name] = d.Data
	}
	read, problems, err := Load(fuzzCluster, documents, 1)
	if err != nil || len(problems) > 0 || read.Len() != l.Len() {
		t.Fatalf("%d records of %d could be read again: %v %v", read.Len(), l.Len(), err, problems)
	}
	for r := range read.All() {
		same, known := written.Get(r.UID)
		if !known || compareFrozen(&same, r) != 0 || comparePlaces(&same, r) != 0 || same.Start != r.Start || same.Runs != r.Runs || same.End != r.End ||
			same.Deletion != r.Deletion {
			t.Fatalf("read again it differs: %+v, %+v", same, *r)
		}
	}
}

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	documents := map[string][]byte{}
	names, err := filepath.Glob("testdata/version-6/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, name := range names {
		if documents[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return documents
}

// TestBombs loads small documents that request much memory.
func TestBombs(t *testing.T) { //nolint:paralleltest // it measures what the process takes
	like := func(n int) Record {
		return Record{
			UID: strconv.Itoa(n), Seen: 1, Set: &LabelSet{}, Allocation: &Allocation{}, Place: &Place{},
			Start: Start{At: 1, Source: Created}, End: ExactEnd(1, NodeGone), PlaceSeen: 1, AllocationSeen: 1,
		}
	}
	long := strings.Repeat("v", 1<<20)
	var zeros, manyLabels, longNames, sameText []Record
	zero := like(1)
	zero.Name = strings.Repeat("0", 64<<20)
	zeros = append(zeros, zero)
	for n := range 1 << 11 { // sets of labels, of one long text
		r := like(n)
		r.Set = &LabelSet{Namespace: strconv.Itoa(n), Labels: LabelsOf(map[string]string{"a": long, "b": long})}
		manyLabels = append(manyLabels, r)
		r = like(n)
		r.Name = long[:maxText+1]
		longNames = append(longNames, r)
		r = like(n)
		r.Owner = &Owner{Name: long, UID: strconv.Itoa(n)}
		sameText = append(sameText, r)
	}
	for name, records := range map[string][]Record{"zeros": zeros, "labels": manyLabels, "names": longNames, "owners": sameText} {
		data, err := encode("", records)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		loadUnsealed(t, "closed-1970-01-01.parquet", data)
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 256 {
			t.Errorf("%s: %d MiB were taken for a document of %d KiB", name, took, len(data)>>10)
		}
	}
}
