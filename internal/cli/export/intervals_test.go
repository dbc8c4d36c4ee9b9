package export

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func anyInterval() *rapid.Generator[interval] {
	return rapid.Custom(func(t *rapid.T) interval {
		i := interval{
			UID: rapid.StringMatching(`[a-e]`).Draw(t, "uid"), Start: stamp(rapid.Int64Range(1, 1<<41).Draw(t, "start")), ClusterUID: "c",
			GPUs: billionths(rapid.Int64Range(0, 1<<40).Draw(t, "gpus")), Name: rapid.StringMatching(`[-a-z",\n ]{0,9}`).Draw(t, "name"),
			Shared: rapid.Bool().Draw(t, "shared"), FirstSeen: 7,
		}
		if rapid.Bool().Draw(t, "ended") {
			end := i.Start + 5
			i.End, i.Labels = &end, map[string]string{"team": i.Name}
		}
		return i
	})
}

// exported is what a file has after rows were exported to it, which had something before.
func exported(t *rapid.T, format string, rows []interval, before []byte) []byte {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b interval) int { return intervalTable.place(&a).compare(intervalTable.place(&b)) })
	var out bytes.Buffer
	to, err := intervalTable.sink(format, &out)
	if err != nil {
		t.Fatal(err)
	}
	var next func() (entry[interval], error)
	if before != nil {
		if next, err = intervalTable.source(format, io.NewSectionReader(bytes.NewReader(before), 0, int64(len(before)))); err != nil {
			t.Fatal(err)
		}
	}
	replaced := func(key string) bool { return slices.ContainsFunc(rows, func(i interval) bool { return i.UID == key }) }
	m, err := newMerger(to, next, replaced)
	for n := 0; n < len(rows) && err == nil; n++ {
		err = m.add(intervalTable.entry(&rows[n]))
	}
	if err == nil {
		err = m.finish()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cellsOf reads a file.
func cellsOf(t *rapid.T, format string, data []byte) (list [][]string) {
	next, err := intervalTable.source(format, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))))
	for err == nil {
		var e entry[interval]
		if e, err = next(); err != nil {
			break
		}
		if e.cells == nil {
			e.cells = e.row.cells()
		}
		list = append(list, e.cells)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatalf("%s: %v", format, err)
	}
	return list
}

// TestExportingAgainBringsUpToDate in each form: what is new replaces what is old, and
// nothing else goes.
func TestExportingAgainBringsUpToDate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, later := some(t, "old"), some(t, "later")
		want := map[string][]string{}
		for _, i := range slices.Concat(old, later) {
			want[i.UID] = i.cells()
		}
		sorted := slices.SortedFunc(maps.Values(want), func(a, b []string) int { return cmp.Or(strings.Compare(a[1], b[1]), strings.Compare(a[0], b[0])) })
		for _, format := range []string{asParquet, asCSV, asJSON} {
			before := exported(t, format, old, nil)
			both := exported(t, format, later, before)
			if again := exported(t, format, later, both); !bytes.Equal(both, again) {
				t.Fatalf("%s: exported again it differs", format)
			}
			if diff := gocmp.Diff(sorted, cellsOf(t, format, both)); diff != "" {
				t.Fatalf("%s (-want +got)\n%s", format, diff)
			}
		}
	})
}

// some draws intervals of different pods.
func some(t *rapid.T, label string) []interval {
	return rapid.SliceOfDistinct(anyInterval(), func(i interval) string { return i.UID }).Draw(t, label)
}

func TestIntervalOf(t *testing.T) {
	t.Parallel()
	r := ledger.Record{
		UID: "u", Name: "train-0", Seen: 3, Set: &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "a"})},
		Owner: &ledger.Owner{Kind: "Job", Name: "train"}, Place: &ledger.Place{Node: "n", SpotPool: "ap-singapore/train"},
		Allocation: &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Units: big.NewRat(2, 1), Weight: big.NewRat(1, 7)}}},
		Start:      ledger.Start{At: 1, Source: ledger.PodScheduled}, End: ledger.End{Earliest: 5, At: 9, Source: ledger.Estimated},
	}
	i := intervalOf("c", &r)
	want := []string{
		"u", "1970-01-01T00:00:00.001Z", "1970-01-01T00:00:00.005Z", "1970-01-01T00:00:00.009Z", "0.285714286", "false", "false", "c", "ml", "train-0",
		`{"team":"a"}`, "Job", "train", "n", "", "", "", "ap-singapore/train", "pod_scheduled", "estimated", "1970-01-01T00:00:00.003Z",
	}
	if diff := gocmp.Diff(want, i.cells()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
