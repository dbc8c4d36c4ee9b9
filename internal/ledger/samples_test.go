package ledger_test

import (
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// sample is a ledger of every kind of record, node and binding.
func sample(t failer) *ledger.Ledger {
	t.Helper()
	l := ledger.New(cluster)
	l.Header.Began, l.Header.LastRun, l.Header.LastListed = noon-7*day, noon, noon-hour
	l.Header.ResourceVersion, l.Header.KeptSince = "184467", noon-5*day-12*hour
	l.AddGap(ledger.Gap{From: noon - 5*hour, To: noon - 4*hour, GPUs: big.NewRat(57, 7), Reason: "the watch expired"})
	l.Header.Lost = []ledger.Loss{{Document: "closed-2026-11-18.parquet", From: noon - 60*hour, To: noon - 36*hour, Intervals: 3, Reason: "missing"}}
	for n, source := range sources {
		for _, age := range []ledger.Time{hour, 3 * day} {
			r := ended(pod(10*n+int(age/hour), noon-age-hour), noon-age+ledger.Time(n), source)
			if source == ledger.Estimated {
				r.End.Earliest -= 5 * minute
			}
			observe(t, l, r)
		}
	}
	for _, r := range sampleOpen() {
		observe(t, l, r)
	}
	for n, gone := range []ledger.Time{0, noon - hour} {
		err := l.Remember(ledger.Node{
			UID: uid(1000 + n), Name: "node-1", Machine: "qcloud:///800001/ins-a1b2c3d4", Created: noon - 3*day, Gone: gone,
			Told: 2, ToldAt: noon - 2*day, Traits: ledger.LabelsOf(map[string]string{"model": "Tesla-T4", "told": "2"}),
			Capacity: ledger.LabelsOf(map[string]string{"nvidia.com/gpu": "8", "gpu.nvidia.com": "57/7"}),
		})
		if err != nil {
			t.Fatalf("remember: %v", err)
		}
	}
	alone := binding(-7, noon-2*hour, "b")
	alone.Owner = nil
	bind(t, l, binding(-8, noon-hour, "a"), alone)
	return l
}

// sampleOpen are open records, each with a different kind of allocation.
func sampleOpen() []ledger.Record {
	one := big.NewRat(1, 1)
	whole := ledger.Share{Resource: "nvidia.com/gpu", Units: one, Weight: one}
	claimed := ledger.Share{Resource: "gpu.nvidia.com", Units: big.NewRat(2, 1), Weight: one, Claim: "7c0a2f5e-1b3d-4c6a-9e8f-112233445566"}
	slice := pod(-1, noon-hour)
	slice.UID = "A-UID-of-another-form"
	slice.Owner, slice.Runs = nil, ledger.Start{}
	slice.Allocation = &ledger.Allocation{Shown: 1, Shares: []ledger.Share{
		{Resource: "nvidia.com/mig-1g.5gb", Units: big.NewRat(2, 1), Weight: big.NewRat(1, 7)}, whole,
	}}
	slice.Deletion = noon + 30*second
	again := pod(-2, noon-2*hour)
	again.End = ledger.End{Earliest: noon - minute}
	shared := pod(-3, noon-hour)
	shared.Allocation = &ledger.Allocation{Shown: 1, Shares: []ledger.Share{whole, claimed}}
	capped := pod(-4, noon-hour)
	capped.Allocation.Shown, capped.Allocation.Capped, capped.AllocationSeen = 3, true, capped.Seen+5*minute
	guess := pod(-5, noon-hour)
	guess.Allocation.Shown = 0
	fraction := pod(-6, noon-hour)
	fraction.Allocation.Shares = []ledger.Share{
		{Resource: "gpu-fraction", Units: big.NewRat(1, 4), Weight: one, Claim: "node-1/4f6a2b1c-gpu", Whole: one}, claimed, whole,
	}
	corrected := pod(-9, noon-hour)
	corrected.Allocation.Shown, corrected.AllocationSeen = 2, corrected.Seen+minute
	corrected.Allocation.Shares = []ledger.Share{{Resource: "nvidia.com/gpu", Units: one, Weight: big.NewRat(1, 4)}}
	corrected.Allocation.Earlier = []ledger.Share{whole}
	return []ledger.Record{slice, again, shared, capped, guess, fraction, corrected}
}

// TestDocumentsOfThisVersionAreRead: the documents in testdata were written when the version began.
// They stay readable and unchanged.
func TestDocumentsOfThisVersionAreRead(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/version-6/*")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d documents: %v", len(names), err)
	}
	d := disk{}
	for _, name := range names {
		if d[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	want := sample(t)
	loaded := d.load(t, noon)
	if diff := cmp.Diff(records(want), records(loaded), alike); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Collect(want.Nodes()), slices.Collect(loaded.Nodes()), alike); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Collect(want.Bindings()), slices.Collect(loaded.Bindings()), alike); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Header, loaded.Header, alike); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if n := d.save(t, loaded, allSteps); n != 0 {
		t.Errorf("%d of them change", n)
	}
}
