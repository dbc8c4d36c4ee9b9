package export

import (
	"bytes"
	"encoding/csv"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestExportingAgainBringsUpToDate in each form: what is new replaces what is old, and
// nothing else goes.
func TestExportingAgainBringsUpToDate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, later := rapid.SliceOf(anyInterval()).Draw(t, "old"), rapid.SliceOf(anyInterval()).Draw(t, "later")
		want := intervalTable.merge(append(append([]interval{}, old...), later...))
		for _, format := range []string{asParquet, asCSV, asJSON} {
			before, err := intervalTable.encode(format, old, nil)
			if err != nil {
				t.Fatal(err)
			}
			both, err := intervalTable.encode(format, later, before)
			if err != nil {
				t.Fatal(err)
			}
			again, err := intervalTable.encode(format, later, both)
			if err != nil || !bytes.Equal(both, again) {
				t.Fatalf("%s: exported again it differs: %v", format, err)
			}
			var got []interval
			switch format {
			case asParquet:
				got, err = intervalTable.parquet(both)
			case asJSON:
				got, err = fromJSON[interval](both)
			default:
				var records [][]string
				records, err = csv.NewReader(bytes.NewReader(both)).ReadAll()
				for n, cells := range records[1:] {
					if diff := cmp.Diff(want[n].cells(), cells); diff != "" {
						t.Fatalf("%s (-want +got)\n%s", format, diff)
					}
				}
				got = want[:len(records)-1]
			}
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s: %d rows of %d: %v", format, len(got), len(want), err)
			}
			for n := range want {
				if diff := cmp.Diff(want[n].cells(), got[n].cells()); diff != "" {
					t.Fatalf("%s (-want +got)\n%s", format, diff)
				}
			}
		}
	})
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
	if diff := cmp.Diff(want, i.cells()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
