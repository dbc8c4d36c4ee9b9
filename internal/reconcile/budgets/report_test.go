package budgets_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestReportsNameTheLimit: it is known before anything was judged by it, and stands
// in JSON under one name whether it was or not.
func TestReportsNameTheLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hinder  func(t *testing.T, d *fixture)
		outcome string
		want    any
	}{
		"judged": {func(*testing.T, *fixture) {}, "done", "12.500"},
		"not judged": {func(t *testing.T, d *fixture) {
			lock, err := d.Store().Lock(context.Background(), "budget/team-a", 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = lock.Release() })
			d.Cluster.Start("ml", "a", 100) // so that there is something to do
			d.Cluster.Step(time.Hour)
		}, "skipped", "12.500"},
		"failed": {func(_ *testing.T, d *fixture) { d.Cluster.Failing["UID"] = errors.New("no") }, "failed", "12.500"},
		"failed, with a grant": {func(t *testing.T, d *fixture) {
			if _, err := d.Process().Budgets().Grant(t.Context(), "team-a", "10", exception.Request{For: time.Hour, Who: "ann", Why: "more"}); err != nil {
				t.Fatal(err)
			}
			d.Cluster.Failing["UID"] = errors.New("no")
		}, "failed", "22.500"},
		"unreadable": {func(t *testing.T, d *fixture) {
			key := store.Key{Kind: store.Budgets, Name: "team-a"}
			doc, err := d.Store().Read(context.Background(), key)
			if err == nil {
				_, err = d.Store().Write(context.Background(), key, []byte("{"), doc.Revision)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "failed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) { b.GPUHours = "12.5" })
			tt.hinder(t, d)
			p := d.Process()
			p.LockTimeout = 0
			report, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(report.Budgets[0])
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]any
			if err := json.Unmarshal(data, &fields); err != nil {
				t.Fatal(err)
			}
			if fields["outcome"] != tt.outcome || fields["limit_gpu_hours"] != tt.want {
				t.Errorf("the limit is %v in %s, want %v of a budget that is %s", fields["limit_gpu_hours"], data, tt.want, tt.outcome)
			}
		})
	}
}

// TestAFinishedPauseIsPausedBesideWhatItDoesNotReach: waiting for it would not end.
func TestAFinishedPauseIsPausedBesideWhatItDoesNotReach(t *testing.T) {
	t.Parallel()
	unreached := budget.Unreached(budget.Pause, "Pod ml/bare", "uid", []string{"ml/bare"}, reason.NoOwner(), time.Time{})
	requested := budget.NewEffect(budget.Pause, "Job ml/train", "uid-2", []string{"ml/train-0"}, time.Time{})
	for want, effects := range map[string][]budget.Effect{
		"Paused": nil, "Paused,Ineffective": {unreached}, "Pausing": {requested}, "Pausing,Ineffective": {requested, unreached},
	} {
		b := budgets.Report{Enforced: []budget.Action{budget.Pause}}
		b.Effects = effects
		if got := state.Join(b.Enforcement()); got != want {
			t.Errorf("with %v it is %s, want %s", effects, got, want)
		}
	}
}

// TestUnconfirmedUsageContradictsNothing has a budget that would be exceeded with unconfirmed usage: all of its numbers are
// without that.
func TestUnconfirmedUsageContradictsNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) { b.GPUHours, b.Thresholds = "10", []int{50, 100} })
	d.Cluster.Start("ml", "real", 1)
	d.Cluster.Start("ml", "claims", 9, func(s *gpu.Pod) { s.Shown = ledger.Unconfirmed })
	d.Cluster.Step(2 * time.Hour)
	r := d.Run()
	b := r.Budgets[0]
	if *b.UsedPercent != 20 || *b.RemainingGPUHours != "8.000" || b.ByNamespace["ml"] != "2.000" || b.UnconfirmedGPUHours != "18.000" || len(b.Fired) > 0 ||
		state.Join(b.States()) != "WithinLimit" {
		t.Errorf("%d%% used, %s left, by namespace %v, %s unconfirmed, fired %d, %s", *b.UsedPercent, *b.RemainingGPUHours, b.ByNamespace,
			b.UnconfirmedGPUHours,
			b.Fired, state.Join(b.States()))
	}
	if texts := b.Warnings.Texts(); len(texts) != 1 || !strings.Contains(texts[0], "With them, 20.000 of 10.000 GPU-hours would be used") {
		t.Errorf("warnings: %q", texts)
	}
}
