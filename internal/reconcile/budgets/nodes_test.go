package budgets_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestLabelsOfANewNodeCountFromTheStart: those that it gets later lower no recorded hours.
func TestLabelsOfANewNodeCountFromTheStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after time.Duration
		want  [2]string // when the labels are observed, and an hour later
	}{
		"after six minutes":  {6 * time.Minute, [2]string{"0.010", "0.110"}},
		"after half an hour": {30 * time.Minute, [2]string{"0.500", "0.600"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(plenty)
			registered := ledger.TimeOf(d.Cluster.Now())
			uid := d.Cluster.Start("ml", "a", 1, func(s *gpu.Pod) { s.Node.Created, s.Shown = registered, ledger.Provisional })
			d.Run()
			d.Cluster.Step(tt.after)
			s := d.Cluster.Pods[uid]
			s.Shares = []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(1, 1), Weight: big.NewRat(1, 10)}}
			s.Shown = ledger.Confirmed + 1
			d.Cluster.Changed(*s, false)
			wantConsumed(t, d.Run(), tt.want[0])
			d.Cluster.Step(time.Hour)
			wantConsumed(t, d.Run(), tt.want[1])
		})
	}
}

// TestWhatANodeTurnsOutNotToHaveIsTakenBack: a pod is unconfirmed while nothing
// shows its node, and what it is afterwards.
func TestWhatANodeTurnsOutNotToHaveIsTakenBack(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty)
	uid := d.Cluster.Start("ml", "a", 99, func(s *gpu.Pod) { s.Shown = 0 })
	d.Cluster.Step(time.Hour)
	r := d.Run()
	wantConsumed(t, r, "0.000")
	if got := r.Budgets[0].UnconfirmedGPUHours; got != "99.000" {
		t.Errorf("%s GPU-hours are unconfirmed, want 99.000", got)
	}
	s := d.Cluster.Pods[uid]
	s.Shares, s.Shown, s.Capped = nil, ledger.Confirmed, true
	d.Cluster.Changed(*s, false)
	r = d.Run()
	wantConsumed(t, r, "0.000")
	if got := r.Budgets[0].UnconfirmedGPUHours; got != "" {
		t.Errorf("%s GPU-hours are unconfirmed", got)
	}
}

// TestNodesAreKeptBetweenRuns passes earlier nodes to each observation, with the most GPUs that each showed.
// If one shows more, its pods are listed.
func TestNodesAreKeptBetweenRuns(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty)
	on := func(told int, gpus int64) gpu.Node {
		return gpu.Node{
			Name: "node-1", UID: "node-uid", Shown: true, Told: told, Model: "Tesla-T4", ProviderID: "qcloud:///800001/ins-a",
			Capacity: map[string]*big.Rat{"nvidia.com/gpu": big.NewRat(gpus, 1)},
		}
	}
	uid := d.Cluster.Start("ml", "a", 1, func(s *gpu.Pod) { s.Node = on(1, 8) })
	d.Run()
	listed := d.Cluster.Lists
	d.Cluster.Pods[uid].Node = on(1, 0) // its kubelet restarts
	d.Cluster.Step(time.Minute)
	d.Run()
	if d.Cluster.Lists != listed {
		t.Error("a node that shows less has its pods listed")
	}
	known := d.Cluster.Remembered
	if len(known) != 1 || known[0].UID != "node-uid" || known[0].Capacity["nvidia.com/gpu"].RatString() != "8" || known[0].Model != "Tesla-T4" ||
		known[0].InstanceID() != "ins-a" || known[0].Gone {
		t.Fatalf("the second run knows %+v", known)
	}
	d.Cluster.Pods[uid].Node = on(3, 8)
	d.Cluster.Step(time.Minute)
	d.Run()
	if d.Cluster.Lists != listed+1 {
		t.Error("a node that tells more does not have its pods listed")
	}
	d.Cluster.Remove(uid)
	d.Cluster.History = nil
	d.Cluster.Step(time.Minute)
	d.Run()
	d.Run()
	if known := d.Cluster.Remembered; len(known) != 1 || !known[0].Gone || known[0].Told != 3 {
		t.Errorf("once it is gone, the next run knows %+v", known)
	}
}
