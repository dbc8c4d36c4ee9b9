package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// gated is a world with a cluster, a budget and a pool that names it.
type gated struct {
	*reconciletest.World
	t       *testing.T
	cluster *reconciletest.Cluster
	budget  budget.Declaration
	pool    spotpool.Declaration
}

func newGated(t *testing.T) *gated {
	t.Helper()
	g := &gated{World: reconciletest.NewWorld(t), t: t, cluster: reconciletest.NewCluster()}
	state, err := g.process().Budgets().Create(context.Background(), budget.Declaration{
		Name: "team-a", GPUHours: "4", Window: "45m", Selector: budget.Selector{MatchLabels: map[string]string{"team": "a"}},
	}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	g.budget = state.Declaration
	g.run(reconcile.RunOptions{})
	d := reconciletest.Pool(1, 2)
	d.Budget = "team-a"
	created, err := g.process().SpotPools().Create(context.Background(), d, reconciletest.LongWait)
	if err != nil {
		t.Fatal(err)
	}
	g.pool = created.Declaration
	g.Verify(1)
	return g
}

func (g *gated) process() reconcile.World {
	p := g.World.Process(nil)
	p.Cluster, p.Clock = g.cluster.Connect, g.cluster.Now
	return p
}

func (g *gated) run(o reconcile.RunOptions) reconcile.Report {
	g.t.Helper()
	report, err := g.process().Runner().Run(context.Background(), o)
	if err != nil {
		g.t.Fatal(err)
	}
	return report
}

// lose interrupts the pool's instance, and waits until a run would launch another.
func (g *gated) lose() {
	g.t.Helper()
	g.Reclaim(1)
	g.Step(2 * time.Minute)
}

// declaring is a cloud that declares something else during the first call of a creation.
type declaring struct {
	spotpools.Cloud
	declare func()
}

func (c declaring) ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error) {
	c.declare()
	return c.Cloud.ObserveNamed(ctx, region, name)
}

// TestABudgetOfTheSameApply: what refers to nothing is created in any order, and the creation
// of a pool ends with what the store has by then.
func TestABudgetOfTheSameApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		declared  string
		says, not string
	}{
		"declared meanwhile": {"team-b", "it has no status in the store", "not declared"},
		"declared later":     {"", `has no budget "team-b": did you mean "team-a"? It has team-a` + "\n" + record.DeclaredTogether, "goes on with it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			p := g.process()
			p.Cloud = declaring{p.Cloud, func() {
				if c.declared == "" {
					return
				}
				_, err := g.process().Budgets().Create(context.Background(), budget.Declaration{
					Name: c.declared, GPUHours: "4", Window: "45m", Selector: budget.Selector{MatchLabels: map[string]string{"team": "b"}},
				}.WithDefaults())
				if err != nil {
					t.Error(err)
				}
			}}
			d := reconciletest.Pool(1, 2)
			d.Name, d.Budget = "serve", "team-b"
			state, err := p.SpotPools().Create(context.Background(), d, reconciletest.LongWait)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(state.AllWarnings().Texts(), "\n"); !strings.Contains(text, c.says) || strings.Contains(text, c.not) {
				t.Errorf("the creation warns:\n%s", text)
			}
		})
	}
}

// TestExceededBudgetClosesGate has a pool stay short while its budget is
// exceeded, keep what it has, and go on by itself.
func TestExceededBudgetClosesGate(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	uid := g.cluster.Start("ml", "a", 8)
	g.cluster.Step(30 * time.Minute)

	// The dry run's own finding closes the gate, though the store lacks it.
	g.lose()
	planned := g.run(reconcile.RunOptions{DryRun: true})
	p := planned.SpotPools[0]
	if p.Outcome != outcome.Short || !strings.Contains(strings.Join(p.Short, "\n"), "budget/team-a is used up: 4.000 of 4.000 GPU-hours") {
		t.Errorf("dry run: %s, %v", p.Outcome, p.Short)
	}
	report := g.run(reconcile.RunOptions{})
	p = report.SpotPools[0]
	if failed, _ := report.Failures(); failed != 0 || p.Outcome != outcome.Short || !strings.Contains(strings.Join(p.Short, "\n"), "used up") {
		t.Errorf("%d failed; the pool is %s: %v", failed, p.Outcome, p.Short)
	}
	g.Verify(0)
	view, err := g.process().SpotPools().View(context.Background(), g.pool)
	if err != nil || !view.Gate.Closed || len(view.Plan.Decisions) > 0 {
		t.Errorf("viewed: %v, %+v", err, view.Gate)
	}
	status, err := g.process().Runner().Status(context.Background())
	if err != nil || !strings.Contains(strings.Join(status.SpotPools[0].Short, "\n"), "used up") {
		t.Errorf("status: %v, %+v", err, status.SpotPools)
	}

	for name, p := range map[string]spotpools.Report{"dry run": planned.SpotPools[0], "run": p, "status": status.SpotPools[0].Report} {
		if p.Gate == nil || p.Gate.Budget != "team-a" || !p.Gate.Closed || !strings.Contains(p.Gate.Reason.String(), "used up") {
			t.Errorf("the gate in the JSON of the %s: %+v", name, p.Gate)
		}
	}

	g.cluster.Remove(uid)
	g.cluster.Step(29 * time.Minute)
	report = g.run(reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	g.Verify(1)
	if gate := report.SpotPools[0].Gate; gate == nil || gate.Closed || !gate.Reason.IsZero() {
		t.Errorf("the open gate in the JSON: %+v", gate)
	}
}

// TestClosedGateIsReportedEarly: a pool that needs nothing reports once that it would
// launch nothing more, and why.
func TestClosedGateIsReportedEarly(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(30 * time.Minute)
	p := g.run(reconcile.RunOptions{}).SpotPools[0]
	if p.Outcome != outcome.Done || !strings.Contains(p.HeldBack(), "used up") {
		t.Errorf("the pool is %s, held back: %q", p.Outcome, p.HeldBack())
	}
	g.lose()
	p = g.run(reconcile.RunOptions{}).SpotPools[0]
	if p.Outcome != outcome.Short || p.HeldBack() != "" {
		t.Errorf("the pool is %s: %v, held back: %q", p.Outcome, p.Short, p.HeldBack())
	}
}

// TestUnknownBudgetFailsItsPools closes the gate of the pools that name a budget
// of which nothing is known, and counts them as failed; others go on.
func TestUnknownBudgetFailsItsPools(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	ungated := reconciletest.Pool(1, 1)
	ungated.Name = "ungated"
	if _, err := g.process().SpotPools().Create(context.Background(), ungated, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	statusKey := store.Key{Kind: store.Statuses, Name: "budgets/team-a"}
	for name, c := range map[string]struct {
		spoil func(t *testing.T)
		says  string
	}{
		"no status": {func(t *testing.T) {
			doc, err := g.Store().Read(context.Background(), statusKey)
			if err == nil {
				err = g.Store().Delete(context.Background(), statusKey, doc.Revision)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "has no status"},
		"an old status": {func(t *testing.T) {
			g.rewriteStatus(t, func(s *budget.Status) { s.At = time.Now().Add(-2 * time.Hour) })
		}, "max_status_age is 1h"},
		"a status of before a change": {func(t *testing.T) {
			g.rewriteStatus(t, func(s *budget.Status) { s.Terms = "of another limit" })
		}, "no run has judged it since"},
	} {
		t.Run(name, func(t *testing.T) {
			c.spoil(t)
			g.cluster.Failing["UID"] = errors.New("connection refused")
			report := g.run(reconcile.RunOptions{})
			delete(g.cluster.Failing, "UID")
			outcomes := map[string]outcome.Outcome{}
			for _, p := range report.SpotPools {
				outcomes[p.Name] = p.Outcome
				if p.Name == "train" && (p.Error == nil || !strings.Contains(p.Error.Message, c.says)) {
					t.Errorf("the error is %+v, and lacks %q", p.Error, c.says)
				}
			}
			if outcomes["train"] != outcome.Failed || outcomes["ungated"] != outcome.Done || report.Budgets[0].Outcome != outcome.Failed {
				t.Errorf("outcomes %v, budget %s", outcomes, report.Budgets[0].Outcome)
			}
			g.run(reconcile.RunOptions{}) // a status again
		})
	}
	// A cluster that does not answer for a while closes no gate: the status is young.
	g.cluster.Failing["UID"] = errors.New("connection refused")
	g.lose()
	report := g.run(reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	for _, p := range report.SpotPools {
		if p.Outcome != outcome.Done {
			t.Errorf("%s is %s: %+v", p.Name, p.Outcome, p.Error)
		}
	}
	g.Verify(1)
}

// TestABudgetExceededWhileSettlingEndsLaunches has a launch fail, and the budget
// be used up before another is due in its place.
func TestABudgetExceededWhileSettlingEndsLaunches(t *testing.T) {
	t.Parallel()
	for name, exceeded := range map[string]bool{"exceeded": true, "not exceeded": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			if _, err := g.Sim.Server.AddFault(cvmsim.Fault{Kind: cvmsim.FaultLaunchFailed}); err != nil {
				t.Fatal(err)
			}
			p := g.process()
			p.Progress = func(event outcome.Event) {
				if exceeded && strings.HasPrefix(event.Message, "launch ") {
					g.rewriteStatus(t, func(s *budget.Status) { s.Usage.Consumed = s.Usage.Limit })
				}
			}
			d := g.pool
			d.Minimum = 2
			state, err := p.SpotPools().Update(context.Background(), d, reconciletest.LongWait)
			if err != nil {
				t.Fatal(err)
			}
			launched, capacity := 3, 2 // one of them in the place of the one that failed
			if exceeded {
				launched, capacity = 2, 1
			}
			if got := g.Launched(); got != launched {
				t.Errorf("%d instances were launched in all, want %d", got, launched)
			}
			if told := strings.Contains(strings.Join(state.AllWarnings().Texts(), "\n"), "used up"); told != exceeded || state.Plan.Capacity != capacity {
				t.Errorf("the capacity is %d, want %d; warnings %q", state.Plan.Capacity, capacity, state.Warnings)
			}
		})
	}
}

func (g *gated) rewriteStatus(t *testing.T, change func(*budget.Status)) {
	t.Helper()
	key := store.Key{Kind: store.Statuses, Name: "budgets/team-a"}
	doc, err := g.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	status, err := declaration.Decode[declaration.BudgetStatus]("it", doc.Data)
	if err != nil {
		t.Fatal(err)
	}
	change(&status)
	data, err := declaration.Encode(status)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Store().Write(context.Background(), key, data, doc.Revision); err != nil {
		t.Fatal(err)
	}
}

// TestNewPoolIsGated creates nothing for a pool whose budget is exceeded, and reports why.
func TestNewPoolIsGated(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(30 * time.Minute)
	g.run(reconcile.RunOptions{})
	d := reconciletest.Pool(2, 2)
	d.Name, d.Budget = "fresh", "team-a"
	gate, err := g.process().SpotPools().Gate(context.Background(), d)
	if err != nil || !gate.Closed {
		t.Errorf("the gate: %v, %+v", err, gate)
	}
	state, err := g.process().SpotPools().Create(context.Background(), d, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if state.Plan.Total != 0 || !strings.Contains(strings.Join(state.AllWarnings().Texts(), "\n"), "used up") {
		t.Errorf("total %d, warnings %v", state.Plan.Total, state.Warnings)
	}
	d.Budget = "misspelled"
	gate, err = g.process().SpotPools().Gate(context.Background(), d)
	if err == nil || !gate.Closed || !strings.Contains(gate.Reason.String(), "team-a") {
		t.Errorf("of a budget that isn't there: %v, %+v", err, gate)
	}
}

// TestSlowClusterLeavesPoolsTheirTime has a cluster that answers too late: the
// pools have half of the run's time all the same.
func TestSlowClusterLeavesPoolsTheirTime(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.lose()
	g.cluster.Hook = func(ctx context.Context, c faults.Call, do func() error) error {
		if c.Name == "Observe" {
			<-ctx.Done()
		}
		return do()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	report, err := g.process().Runner().Run(ctx, reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if b := report.Budgets[0]; b.Outcome != outcome.Failed || !strings.Contains(b.Error.Message, "half of the run's time") {
		t.Errorf("the budget is %s: %+v", b.Outcome, b.Error)
	}
	if p := report.SpotPools[0]; p.Outcome != outcome.Done || len(report.Decisions) != 1 {
		t.Errorf("the pool is %s: %+v, %v", p.Outcome, p.Error, report.Decisions)
	}
}

// TestStatusOfAnotherLimitOpensNothing lowers the limit of a budget with the cluster's clock
// ahead. The status of the higher limit opens no gate, though one clock dates it after the
// change.
func TestStatusOfAnotherLimitOpensNothing(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.cluster.Start("ml", "a", 2)
	g.cluster.Step(30 * time.Minute)
	g.run(reconcile.RunOptions{})
	b := g.budget
	b.GPUHours = "0.5"
	state, err := g.process().Budgets().Update(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if at := state.Declaration.PublishedAt; !at.Equal(g.cluster.Now()) {
		t.Errorf("published at %s, and the cluster's clock reads %s", at, g.cluster.Now())
	}
	gate, err := g.process().SpotPools().Gate(context.Background(), g.pool)
	if err == nil || !gate.Closed || !strings.Contains(gate.Reason.String(), "has judged it since") {
		t.Errorf("the gate: %+v, %v", gate, err)
	}
	b = state.Declaration
	b.GPUHours = "4"
	if _, err := g.process().Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if gate, err := g.process().SpotPools().Gate(context.Background(), g.pool); err != nil || gate.Closed {
		t.Errorf("back at the limit that was judged: %+v, %v", gate, err)
	}
}
