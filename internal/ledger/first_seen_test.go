package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func TestRestartsDoNotShortenThePast(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	for restart := range 3 {
		later := pod(1, noon+hour+ledger.Time(restart)*hour) // its status now shows only the last two runs
		later.Start.Source = ledger.ContainerStarted
		observe(t, l, later)
	}
	r, _ := l.Get(uid(1))
	if want := (ledger.Start{At: noon, Source: ledger.PodScheduled}); r.Start != want || r.Runs.At != noon+2*second {
		t.Fatalf("it starts at %v and runs from %v", r.Start, r.Runs)
	}
}

func TestALabelEditMovesNoPastUsage(t *testing.T) {
	t.Parallel()
	first, edited := pod(1, noon), pod(1, noon)
	edited.Seen += hour
	edited.Set = &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "b"})}
	edited.Allocation = gpus(8)
	for name, order := range map[string][]ledger.Record{"in time": {first, edited}, "by a later run first": {edited, first}} {
		r, _ := of(t, order...).Get(uid(1))
		if diff := cmp.Diff(first.Set, r.Set, alike); diff != "" {
			t.Errorf("%s: labels (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(first.Allocation.Shares, r.Allocation.Shares, alike); diff != "" || r.AllocationSeen != first.Seen {
			t.Errorf("%s: GPUs (-want +got):\n%s", name, diff)
		}
	}
}

// TestLabelsSeenAtOneMomentAreDecidedAlike has two concurrent runs observe an edit from both sides.
func TestLabelsSeenAtOneMomentAreDecidedAlike(t *testing.T) {
	t.Parallel()
	a, b := pod(1, noon), pod(1, noon)
	b.Set = &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "b"})}
	same(t, "in the other order", of(t, b, a), of(t, a, b))
}

func TestANodeMayGetItsLabelsAfterItsFirstPod(t *testing.T) {
	t.Parallel()
	bare, labeled, edited := pod(1, noon), pod(1, noon), pod(1, noon)
	bare.Place = &ledger.Place{Node: "node-1"}
	labeled.Seen += minute
	edited.Seen += hour
	edited.Place = &ledger.Place{Node: "node-1", Model: "A100", InstanceType: "GT4.4XLARGE96", InstanceID: "ins-a1b2c3d4"}
	for _, order := range [][]ledger.Record{{bare, labeled, edited}, {edited, labeled, bare}, {labeled, edited, bare}} {
		r, _ := of(t, order...).Get(uid(1))
		if r.Place.Model != "Tesla-T4" || r.Seen != bare.Seen {
			t.Errorf("the GPU is a %q, frozen at %d", r.Place.Model, r.Seen)
		}
	}
}

// TestAnEvictedPodIsNotErased deletes an evicted pod, which has no container statuses any more.
func TestAnEvictedPodIsNotErased(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	l.Header.LastRun = noon + 55*minute
	observe(t, l, ended(pod(1, noon), noon+hour, ledger.DisruptionTarget))
	l.CloseVanished(none, nil, noon+hour+5*minute, noon+2*hour)
	if total, bound := usage(l, ledger.EstimateMidpoint, noon+3*hour); total != hour || bound != 0 {
		t.Fatalf("it held for %d ms within %d, want an hour", total, bound)
	}
}

// TestEnforcementDoesNotEraseWhatTriggeredIt deletes an evicted pod, and its controller starts the
// next one.
func TestEnforcementDoesNotEraseWhatTriggeredIt(t *testing.T) {
	t.Parallel()
	l := ledger.New(cluster)
	for n := range 5 {
		start := noon + ledger.Time(n)*10*minute
		see(t, l, []life{{number: n, start: start, end: start + 10*minute, gone: start + 10*minute}}, start+5*minute)
	}
	total, _ := usage(l, ledger.EstimateEarliest, noon+45*minute)
	if l.Len() != 5 || total < 25*minute {
		t.Fatalf("%d pods and %d ms are left of 5 evicted ones", l.Len(), total)
	}
}
