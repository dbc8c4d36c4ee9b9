package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func asked(length time.Duration) exception.Request {
	return exception.Request{For: length, Who: "ann", Why: "night shift"}
}

func wantTold(t *testing.T, w *reconciletest.World, c *reconciletest.Cluster, want ...string) {
	t.Helper()
	answer, err := (&eventlog.Log{Store: w.Store(), Now: c.Now}).Ask(context.Background(),
		history.Query{Kinds: []history.Kind{history.Grant, history.Hold, history.Release}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range answer.Events {
		got = append(got, fmt.Sprintf("%s by %s: %s", e.Kind, e.Actor, e.Reasons[0]))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got)\n%s", diff)
	}
}

// TestAnEndByItselfIsToldOnce kills the run after the end of a grant and of a hold at each of
// its effects. The next run reports what is unreported, and then only the end of the grant is
// left.
func TestAnEndByItselfIsToldOnce(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		g := newGated(t)
		if _, err := g.process().Budgets().Grant(context.Background(), "team-a", "50", asked(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := g.process().SpotPools().Hold(context.Background(), "train", asked(time.Hour)); err != nil {
			t.Fatal(err)
		}
		g.cluster.Step(time.Hour)
		m := &faults.Process{Fault: faults.Fault{At: at, After: at%2 == 0}}
		p := g.World.Process(m)
		p.Cluster, p.Clock = g.cluster.Connect, g.cluster.Now
		_, _ = p.Runner().Run(context.Background(), reconcile.RunOptions{})
		g.run(reconcile.RunOptions{})
		wantTold(t, g.World, g.cluster,
			"grant by ann: 50 GPU-hours: night shift", "release by test: the grant of 50 GPU-hours by ann ends",
			"hold by ann: night shift", "release by test: the hold by ann ends")
		repository := record.Repository{Store: g.Store()}
		granted, err := record.Grants(repository).Of(context.Background(), g.budget.UID)
		if err != nil || len(granted.List)+len(granted.Unreported) > 0 || granted.EndedAt.IsZero() {
			t.Errorf("killed at %d, of the grant is left: %+v (%v)", at, granted, err)
		}
		held, err := record.Holds(repository).Of(context.Background(), g.pool.UID)
		if err != nil || len(held.List)+len(held.Unreported) > 0 {
			t.Errorf("killed at %d, of the hold is left: %+v (%v)", at, held, err)
		}
		if t.Failed() || !m.Dead() {
			return
		}
	}
}

type readOnly struct{ store.Store }

func (readOnly) Write(context.Context, store.Key, []byte, store.Revision) (store.Revision, error) {
	return "", errors.New("read-only file system")
}

// TestNothingIsDecidedInAReadOnlyStore: the error is that the store is read-only, and limit and
// pool stay as they are.
func TestNothingIsDecidedInAReadOnlyStore(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	e := g.process()
	e.Store = readOnly{e.Store}
	if _, err := e.Budgets().Grant(context.Background(), "team-a", "50", asked(time.Hour)); err == nil ||
		!strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("granted: %v", err)
	}
	if _, err := e.SpotPools().Hold(context.Background(), "train", asked(time.Hour)); err == nil || !strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("held: %v", err)
	}
	report := g.run(reconcile.RunOptions{})
	if b, p := report.Budgets[0], report.SpotPools[0]; *b.LimitGPUHours != "4.000" || p.Hold != nil {
		t.Errorf("the limit is %s, on hold %v", *b.LimitGPUHours, p.Hold)
	}
}
