package ledger

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// The fuzz targets are given what the seeds in testdata/fuzz are, and what is
// written here. Each seals what it is given, so that no checksum is in the way.

const fuzzCluster = "5f0c1d2e-9a8b-4c7d-8e6f-001122334455"

// FuzzLoad reads any bytes as a document.
func FuzzLoad(f *testing.F) {
	for name, data := range samples(f) {
		f.Add(name, data)
	}
	f.Add("open-00", []byte("gpupool-ledger 2 open-00 "+fuzzCluster+" 99999999999999999999 00\n"))
	f.Add("closed-2026-11-20_1of2", []byte("gpupool-ledger 99"))
	var p packer
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		l, problems, err := Load(fuzzCluster, map[string][]byte{name: data}, 1)
		switch {
		case err != nil && (l != nil || problems != nil):
			t.Fatalf("an error beside a ledger: %v", err)
		case err == nil && l.Len() > 0:
			again(t, l, &p)
		}
	})
}

// FuzzShard reads any bytes as the body of a shard. What it takes for one can be
// written and read again, and says the same.
func FuzzShard(f *testing.F) {
	for name, data := range samples(f) {
		if name != headerName {
			f.Add(bodyOf(f, name, data))
		}
	}
	var p packer
	f.Fuzz(func(t *testing.T, body []byte) {
		again(t, loadSealed(t, "closed-2026-11-20", body, &p), &p)
	})
}

// FuzzBindings reads any bytes as the body of the document of bindings. What it takes
// for one is written and read again as the same.
func FuzzBindings(f *testing.F) {
	data, err := os.ReadFile("testdata/version-4/bound")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bodyOf(f, bindingsName, data))
	var p packer
	f.Fuzz(func(t *testing.T, body []byte) {
		l := loadSealed(t, bindingsName, body, &p)
		if len(l.bindings.of) == 0 {
			return
		}
		encoded := encodeBindings(slices.SortedFunc(maps.Values(l.bindings.of), compareBindings))
		read := loadSealed(t, bindingsName, encoded, &p)
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

// FuzzHeader reads any bytes as the body of the header.
func FuzzHeader(f *testing.F) {
	f.Add(bodyOf(f, headerName, samples(f)[headerName]))
	f.Add([]byte(`{"documents":null,"gaps":[{"from_ms":1,"to_ms":5,"gpus":"1/3"},{"from_ms":3,"to_ms":4,"gpus":"1e999999999"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		h, listed, err := decodeHeader(fuzzCluster, body)
		if err != nil {
			return
		}
		encoded, err := encodeHeader(h, listed)
		if err != nil {
			t.Fatal(err)
		}
		h, listed, err = decodeHeader(fuzzCluster, encoded)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		twice, err := encodeHeader(h, listed)
		if err != nil || !bytes.Equal(encoded, twice) {
			t.Fatalf("written again it differs: %v\n%s\n%s", err, encoded, twice)
		}
	})
}

// loadSealed loads one document of that body.
func loadSealed(t *testing.T, name string, body []byte, p *packer) *Ledger {
	t.Helper()
	_, data, err := p.seal(name, fuzzCluster, body)
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := Load(fuzzCluster, map[string][]byte{name: data}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// again writes a ledger and reads it again.
func again(t *testing.T, l *Ledger, p *packer) {
	t.Helper()
	written := New(fuzzCluster)
	written.packer = *p
	if err := written.Join(l); err != nil {
		t.Fatalf("what was read cannot be merged: %v", err)
	}
	changes, err := written.Changes()
	if err != nil {
		t.Fatal(err)
	}
	*p = written.packer
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
		if !known || compareFrozen(&same, r) != 0 || comparePlaces(&same, r) != 0 || same.Start != r.Start || same.Runs != r.Runs || same.End != r.End || same.Deletion != r.Deletion {
			t.Fatalf("read again it differs: %+v, %+v", same, *r)
		}
	}
}

// samples are the documents of a ledger of every kind of record.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	documents := map[string][]byte{}
	names, err := filepath.Glob("testdata/version-4/*")
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

func bodyOf(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	s, err := unseal(name, fuzzCluster, data)
	if err != nil {
		t.Fatal(err)
	}
	body, err := new(unpacker).body(s)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestBombs are small documents that ask for much.
func TestBombs(t *testing.T) { //nolint:paralleltest // it measures what the process takes
	zeros := make([]byte, maxBody)
	var manyLabels writer // sets of many labels, all of one long text
	manyLabels.count(1 << 17)
	manyLabels.count(2)
	manyLabels.count(1)
	manyLabels.count(1 << 20)
	manyLabels.b = append(manyLabels.b, 'k')
	manyLabels.b = append(manyLabels.b, bytes.Repeat([]byte("v"), 1<<20)...)
	manyLabels.count(0)
	manyLabels.count(1 << 17)
	for range 1 << 17 {
		manyLabels.b = append(manyLabels.b, 0, 0, 1, 0, 1)
	}
	manyLabels.b = append(manyLabels.b, make([]byte, 2<<20)...)
	var longNames writer // many records, each with the long name of one owner
	longNames.count(1 << 18)
	longNames.count(1)
	longNames.count(1 << 20)
	longNames.b = append(longNames.b, make([]byte, 1<<20)...)
	longNames.b = append(longNames.b, 0, 0, 1, 0, 0, 0, 0)
	longNames.b = append(longNames.b, make([]byte, 6<<20)...)
	var p packer
	for name, body := range map[string][]byte{"zeros": zeros, "labels": manyLabels.b, "names": longNames.b} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l := loadSealed(t, "closed-2026-11-20", body, &p)
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 256 || l.Len() > 0 {
			t.Errorf("%s: %d MiB were taken for a document of %d KiB, and %d records", name, took, len(body)>>10, l.Len())
		}
	}
	// What unpacks to more than it announces is not unpacked.
	s := sealed{name: "open-00", length: 10}
	packed, _, err := p.seal("open-00", fuzzCluster, zeros)
	if err != nil {
		t.Fatal(err)
	}
	s.packed = packed.packed
	if _, err := new(unpacker).body(s); err == nil {
		t.Error("more was unpacked than announced")
	}
}
