package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestAGrantOpensTheGateAndItsEndClosesIt has a pool launch while a grant is in force,
// and be held back once it has ended, by another run or without one.
func TestAGrantOpensTheGateAndItsEndClosesIt(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(30 * time.Minute)
	g.lose()
	g.run(reconcile.RunOptions{})
	g.Verify(0)

	flow := g.process().Budgets()
	for _, hours := range []string{"1", "2.5"} { // they add up: neither would do alone
		if _, err := flow.Grant(context.Background(), "team-a", hours, asked(20*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	report := g.run(reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	b := report.Budgets[0]
	if *b.LimitGPUHours != "7.500" || len(b.Grants) != 2 {
		t.Errorf("the limit is %s, by %v", *b.LimitGPUHours, b.Grants)
	}
	g.Verify(1)
	view, err := flow.View(context.Background(), g.budget)
	if err != nil || view.Declaration.GPUHours != "4" ||
		!strings.Contains(strings.Join(view.Warnings.Texts(), "\n"), "granted in addition to the declared 4: 1 GPU-hour by ann until") {
		t.Errorf("viewed %+v (%v)", view, err)
	}

	g.lose()
	g.cluster.Step(20 * time.Minute)
	gate, err := g.process().SpotPools().Gate(context.Background(), g.pool)
	if err != nil || !gate.Closed || !strings.Contains(gate.Reason.String(), "of 4.000 GPU-hours") {
		t.Errorf("the gate after its end, before a run: %+v (%v)", gate, err)
	}
	status, err := g.process().Runner().Status(context.Background(), "team-a")
	if err != nil || len(status.Budgets) != 1 {
		t.Fatalf("%+v (%v)", status.Budgets, err)
	}
	if b := status.Budgets[0]; !*b.Exceeded || *b.LimitGPUHours != "4.000" || !b.Untrusted.IsZero() ||
		!strings.Contains(strings.Join(b.Warnings.Texts(), "\n"), "ended at") {
		t.Errorf("the status after its end, before a run: exceeded %v of %s, %q, warnings %q", *b.Exceeded, *b.LimitGPUHours, b.Untrusted, b.Warnings)
	}
	if b := g.run(reconcile.RunOptions{}).Budgets[0]; *b.LimitGPUHours != "4.000" || len(b.Grants) > 0 {
		t.Errorf("after its end the limit is %s, by %v", *b.LimitGPUHours, b.Grants)
	}
	g.Verify(0)
}

// TestAReleaseClosesTheGateBeforeAnyRun releases hours that a budget has already used. No pool
// launches on them, and the status shows it before the next run.
func TestAReleaseClosesTheGateBeforeAnyRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := newGated(t)
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(35 * time.Minute)
	flow := g.process().Budgets()
	if _, err := flow.Grant(ctx, "team-a", "50", asked(time.Hour)); err != nil {
		t.Fatal(err)
	}
	g.run(reconcile.RunOptions{})
	if gate, err := g.process().SpotPools().Gate(ctx, g.pool); err != nil || gate.Closed {
		t.Fatalf("the gate while the grant is in force: %+v (%v)", gate, err)
	}
	if _, err := flow.Release(ctx, "team-a", exception.Release{Who: "bob"}); err != nil {
		t.Fatal(err)
	}
	if gate, err := g.process().SpotPools().Gate(ctx, g.pool); err != nil || !gate.Closed || !strings.Contains(gate.Reason.String(), "of 4.000 GPU-hours") {
		t.Errorf("the gate after the release: %+v (%v)", gate, err)
	}
	if view, err := flow.View(ctx, g.budget); err != nil || !view.Status.Usage.Exceeded() {
		t.Errorf("Terraform reads %+v (%v)", view.Status, err)
	}
	status, err := g.process().Runner().Status(ctx, "team-a")
	if err != nil || len(status.Budgets) != 1 {
		t.Fatalf("%+v (%v)", status.Budgets, err)
	}
	if b := status.Budgets[0]; !*b.Exceeded || *b.LimitGPUHours != "4.000" ||
		!strings.Contains(strings.Join(b.Warnings.Texts(), "\n"), "50 GPU-hours was released") {
		t.Errorf("the status: exceeded %v of %s, warnings %q", *b.Exceeded, *b.LimitGPUHours, b.Warnings)
	}
	larger := g.pool
	larger.Minimum = 2
	if _, err := g.process().SpotPools().Update(ctx, larger, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	g.Verify(1)
}

// TestAReleasedGrantCountsNoMore lowers the limit by the next run.
func TestAReleasedGrantCountsNoMore(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	flow := g.process().Budgets()
	if _, err := flow.Grant(context.Background(), "team-a", "50", asked(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if b := g.run(reconcile.RunOptions{}).Budgets[0]; *b.LimitGPUHours != "54.000" {
		t.Errorf("the limit is %s", *b.LimitGPUHours)
	}
	g.cluster.Step(time.Minute)
	released, err := flow.Release(context.Background(), "team-a", exception.Release{Who: "bob"})
	if err != nil || len(released.Grants) != 1 {
		t.Errorf("released %+v (%v)", released, err)
	}
	g.cluster.Step(time.Second)
	if b := g.run(reconcile.RunOptions{}).Budgets[0]; *b.LimitGPUHours != "4.000" {
		t.Errorf("the limit is %s", *b.LimitGPUHours)
	}
	if again, err := flow.Release(context.Background(), "team-a", exception.Release{Who: "bob"}); err != nil || len(again.Grants) > 0 {
		t.Errorf("released again %+v (%v)", again, err)
	}
	wantTold(t, g.World, g.cluster, "grant by ann: 50 GPU-hours: night shift", "release by bob: the grant of 50 GPU-hours by ann ends early")
}

// TestGrantsAtOnceAreAllKept has several people grant to a budget at once.
func TestGrantsAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	var group errgroup.Group
	want := []string{}
	for range 5 {
		p := g.process()
		group.Go(func() error {
			_, err := p.Budgets().Grant(context.Background(), "team-a", "10", asked(time.Hour))
			return err
		})
		want = append(want, "grant by ann: 10 GPU-hours: night shift")
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if b := g.run(reconcile.RunOptions{}).Budgets[0]; *b.LimitGPUHours != "54.000" || len(b.Grants) != 5 {
		t.Errorf("the limit is %s, by %v", *b.LimitGPUHours, b.Grants)
	}
	wantTold(t, g.World, g.cluster, want...)
}

// TestAnotherOfTheNameHasNoGrants destroys a budget with a grant, and creates it again.
func TestAnotherOfTheNameHasNoGrants(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	flow := g.process().Budgets()
	if _, err := flow.Grant(context.Background(), "team-a", "50", asked(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := flow.Delete(context.Background(), g.budget); err != nil {
		t.Fatal(err)
	}
	again := g.budget
	again.UID, again.Generation, again.PublishedAt = "", 0, time.Time{}
	if _, err := flow.Create(context.Background(), again); err != nil {
		t.Fatal(err)
	}
	if b := g.run(reconcile.RunOptions{}).Budgets[0]; *b.LimitGPUHours != "4.000" || len(b.Grants) > 0 {
		t.Errorf("the limit is %s, by %v", *b.LimitGPUHours, b.Grants)
	}
	if docs, err := g.Store().List(context.Background(), store.Grants); err != nil || len(docs) > 0 {
		t.Errorf("grants that are left: %v (%v)", docs, err)
	}
	wantTold(t, g.World, g.cluster, "grant by ann: 50 GPU-hours: night shift", "release by test: the grant of 50 GPU-hours by ann ends early")
}

// TestADamagedGrantFailsItsBudgetAlone judges no budget by a limit that is not known.
func TestADamagedGrantFailsItsBudgetAlone(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	if _, err := g.Store().Write(context.Background(), store.Key{Kind: store.Grants, Name: g.budget.UID}, []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
	report := g.run(reconcile.RunOptions{})
	if b := report.Budgets[0]; b.Outcome != outcome.Failed || !strings.Contains(b.Error.Remedy, "Restore it from a copy, or move it away and set") {
		t.Errorf("the budget: %+v", b)
	}
}

// TestAKilledGrantIsWholeOrNotThere kills a grant at each of its effects. The next run has the
// limit with it or without it, and reports it once.
func TestAKilledGrantIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		g := newGated(t)
		m := &faults.Process{Fault: faults.Fault{At: at, After: at%2 == 0}}
		p := g.World.Process(m)
		p.Clock = g.cluster.Now
		_, _ = p.Budgets().Grant(context.Background(), "team-a", "50", asked(time.Hour))
		b := g.run(reconcile.RunOptions{}).Budgets[0]
		if limit := *b.LimitGPUHours; b.Outcome != outcome.Done || limit != "4.000" && limit != "54.000" {
			t.Fatalf("killed at %d, the limit is %s: %+v", at, limit, b.Error)
		}
		if _, err := g.process().Budgets().Grant(context.Background(), "team-a", "1", asked(time.Hour)); err != nil {
			t.Fatalf("killed at %d, and again: %v", at, err)
		}
		want := []string{"grant by ann: 1 GPU-hour: night shift"}
		for range b.Grants {
			want = append(want, "grant by ann: 50 GPU-hours: night shift")
		}
		wantTold(t, g.World, g.cluster, want...)
		if !m.Dead() {
			return
		}
	}
}
