package ledger_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Records are not counters: merging the same observations twice, or in another order, gives the
// same interval.
func ExampleLedger_Merge() {
	at := func(hour int) ledger.Time { return ledger.TimeOf(time.Date(2030, 1, 1, hour, 0, 0, 0, time.UTC)) }
	running := ledger.Record{
		UID: "pod-1", Name: "train-0", Seen: at(10), Set: &ledger.LabelSet{Namespace: "ml"}, Allocation: &ledger.Allocation{Shown: 1},
		Place: &ledger.Place{Node: "gpu-1"}, Start: ledger.Start{At: at(9), Source: ledger.PodScheduled},
	}
	ended := running
	ended.Seen, ended.End = at(13), ledger.ExactEnd(at(12), ledger.StatusWritten)

	l := ledger.New("cluster-1")
	for _, r := range []ledger.Record{ended, running, running, ended} {
		if err := l.Merge(r); err != nil {
			fmt.Println(err)
		}
	}
	r, _ := l.Get("pod-1")
	fmt.Println(l.Len(), r.Open(), r.End.At.Time().Sub(r.Start.At.Time()))
	// Output: 1 false 3h0m0s
}
