package duckdb_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

var namespaces = []string{"batch", "ml", "web"}

// pods are so many that their open records are in documents of their own.
const pods = 12_000

// pod is the record of a pod that holds still, as a run sees it.
func pod(n int, start time.Time) ledger.Record {
	weight, units := big.NewRat(1, 1), int64(1+n%4)
	if n%3 == 0 {
		weight = big.NewRat(1, 7)
	}
	shares := []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(units, 1), Weight: weight}}
	if n%5 == 0 {
		shares = append(shares, ledger.Share{Resource: "tke.cloud.tencent.com/qgpu-core", Units: big.NewRat(25, 1), Weight: big.NewRat(1, 100)})
	}
	team := fmt.Sprintf("team-%d", n%7)
	return ledger.Record{
		UID: fmt.Sprintf("%08x-3c5d-4e6f-8a9b-0c1d2e3f4a5b", uint32(n)*2654435761), Name: fmt.Sprintf("train-%05d", n),
		Set:        &ledger.LabelSet{Namespace: namespaces[n%len(namespaces)], Labels: ledger.LabelsOf(map[string]string{"team": team})},
		Allocation: &ledger.Allocation{Shown: n % 3, Shares: shares},
		Place:      &ledger.Place{Node: "node-1", Model: "Tesla-T4"},
		Start:      ledger.Start{At: milli(start), Source: ledger.PodScheduled},
	}
}

func observe(t *testing.T, l *ledger.Ledger, at time.Time, seen []ledger.Record) {
	t.Helper()
	for _, r := range seen {
		r.Seen = milli(at)
		if err := l.Observe(r); err != nil {
			t.Fatal(err)
		}
	}
	l.Header.LastRun = milli(at)
}

// firstRun observes running pods, some from before the window. Others ended before the window,
// in it, and at an unobserved time.
func firstRun() []ledger.Record {
	var seen []ledger.Record
	for n := range pods {
		start := now.Add(-time.Duration(n) * 90 * time.Second).Add(time.Duration(n*137) * time.Millisecond)
		r := pod(n, start)
		switch length := time.Duration(n%50) * 17 * time.Minute; {
		case n%9 == 0:
			r.End = ledger.End{Earliest: milli(start.Add(length)), At: milli(start.Add(length + 5*time.Minute + time.Millisecond)), Source: ledger.Estimated}
		case n%4 != 0 && start.Add(length).Before(now.Add(-2*time.Hour)):
			r.End = ledger.ExactEnd(milli(start.Add(length)), ledger.ContainerFinished)
		}
		if r.Start.At < milli(now.Add(-2*time.Hour)) {
			seen = append(seen, r)
		}
	}
	return seen
}

// secondRun sees that some of these ended, that others hold again, and better of when
// some ended; and new ones.
func secondRun() []ledger.Record {
	var seen []ledger.Record
	for n, r := range firstRun() {
		switch {
		case n%11 == 0 && r.Open():
			r.End = ledger.ExactEnd(milli(now.Add(-100*time.Minute)), ledger.ContainerFinished)
		case n%6 == 0 && r.End.Source == ledger.Estimated:
			r.End = ledger.End{}
		case n%7 == 0 && r.End.Source == ledger.Estimated:
			r.End = ledger.ExactEnd(r.End.Earliest+1000, ledger.InstanceEnded)
		case n%13 == 0 && r.Open():
			r.Start.At -= 1000
			r.Allocation = &ledger.Allocation{Shown: 3, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(8, 1), Weight: big.NewRat(1, 1)}}}
		default:
			continue
		}
		seen = append(seen, r)
	}
	for n := pods; n < pods+50; n++ {
		seen = append(seen, pod(n, now.Add(-90*time.Minute)))
	}
	return seen
}
