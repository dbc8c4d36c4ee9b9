package reconcile_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func documents(t *testing.T, s store.Store, kinds ...store.Kind) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, kind := range kinds {
		docs, err := s.List(context.Background(), kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			all[doc.Key.String()] = string(doc.Data)
		}
	}
	return all
}

func reported(r reconcile.Report) []string {
	var names []string
	for _, b := range r.Budgets {
		names = append(names, b.Name)
	}
	for _, p := range r.SpotPools {
		names = append(names, p.Name)
	}
	return names
}

func wantCounted(t *testing.T, r reconcile.Report, hours string) {
	t.Helper()
	if len(r.Budgets) != 1 || r.Budgets[0].UsageReport == nil || r.Budgets[0].ConsumedGPUHours != hours {
		t.Errorf("it is not %s that is counted: %+v", hours, r.Budgets)
	}
}

// TestARunOfOneBudgetLeavesTheOthers as they were: their statuses, what they
// enforce, what destroyed ones left, what is to be forgotten, and the last run.
func TestARunOfOneBudgetLeavesTheOthers(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Keep = time.Hour
	d.Declare(func(b *budget.Declaration) { b.Enforce.Action, b.GPUHours, b.Window = budget.Freeze, "1", "2h" })
	d.Declare(func(b *budget.Declaration) { b.Name, b.GPUHours, b.Window = "team-b", "100", "2h" })
	gone := d.Declare(func(b *budget.Declaration) { b.Name = "gone" })
	d.Run()
	if _, err := d.Process().Budgets().Delete(context.Background(), gone); err != nil {
		t.Fatal(err)
	}
	pod := d.Cluster.Start("ml", "a", 8)
	d.Run()
	d.Cluster.Step(time.Hour)
	d.Cluster.Remove(pod)
	before := documents(t, d.Store(), store.Statuses, store.Tombstones, store.Budgets)

	// A run of another budget does not report the exceeded one.
	one := func(names ...string) reconcile.Report {
		t.Helper()
		report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{Names: names, KeepLedger: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	report := one("team-b")
	if diff := cmp.Diff([]string{"team-b"}, reported(report)); diff != "" || len(report.Decisions) > 0 || len(d.Cluster.Frozen) > 0 {
		t.Errorf("it reported %s, decided %v and froze %v", diff, report.Decisions, d.Cluster.Frozen)
	}
	wantCounted(t, report, "8.000")
	after := documents(t, d.Store(), store.Statuses, store.Tombstones, store.Budgets)
	maps.DeleteFunc(after, func(key, text string) bool { return before[key] == text })
	if diff := cmp.Diff([]string{"statuses/budget_usage"}, slices.Sorted(maps.Keys(after))); diff != "" {
		t.Errorf("what it wrote beside the ledger (-want +got):\n%s", diff)
	}

	d.Cluster.Step(4 * 24 * time.Hour)
	one("team-b")
	b, err := d.Process().Budgets().Find(context.Background(), "team-b")
	if err != nil {
		t.Fatal(err)
	}
	b.Window = "7d"
	if _, err := d.Process().Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantCounted(t, one("team-[b-z]"), "8.000")

	_, err = d.Runner().Run(context.Background(), reconcile.RunOptions{Names: []string{"team-b", "absent"}})
	var unknown *declaration.UnknownNameError
	if !errors.As(err, &unknown) || unknown.Name != "absent" {
		t.Errorf("of an unknown name it says %v", err)
	}
	answer, err := (&eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}).Ask(context.Background(), history.Query{})
	if err != nil || slices.ContainsFunc(answer.Events, func(e history.Event) bool { return e.Kind == history.RunFailed }) {
		t.Errorf("a run that never began is reported as failed: %+v, %v", answer.Events, err)
	}
}

// TestARunOfSomeCountsForAll: what another budget weighs is written to the ledger.
func TestARunOfSomeCountsForAll(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare(func(b *budget.Declaration) { b.Name = "plain" })
	d.Declare(func(b *budget.Declaration) {
		b.Name, b.ResourceWeights = "weighing", map[string]string{"example.com/npu": "1"}
	})
	run := func(names ...string) reconcile.Report {
		t.Helper()
		report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	run()
	before := documents(t, d.Store(), store.Ledger)
	run("plain")
	after := documents(t, d.Store(), store.Ledger)
	if len(before) == 0 || len(after) != len(before) {
		t.Fatalf("the ledger has %d documents, and had %d", len(after), len(before))
	}
	if all := strings.Join(slices.Collect(maps.Values(after)), "\n"); !strings.Contains(all, "example.com/npu") {
		t.Errorf("the ledger does not know what weighing weighs any more: %s", all)
	}
}

// TestARunOfAPoolGoesByItsBudgetsLastStatus, and observes no other pool and no cluster.
func TestARunOfAPoolGoesByItsBudgetsLastStatus(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(20 * time.Minute)
	g.run(reconcile.RunOptions{}) // not exceeded yet
	g.lose()
	g.cluster.Step(20 * time.Minute) // exceeded by now, and not evaluated
	p := g.process()
	report, err := p.Runner().Run(context.Background(), reconcile.RunOptions{Names: []string{"ap-*/*"}})
	if err != nil || len(report.Budgets) != 0 || len(report.SpotPools) != 1 || !slices.Equal(report.Names, []string{"ap-*/*"}) {
		t.Fatalf("%v: %+v", err, report)
	}
	for call := range report.Calls {
		if call[0] >= 'a' && call[0] <= 'z' { // a verb of the cluster
			t.Errorf("it asked the cluster to %s", call)
		}
	}
	if g.Launched() != 2 {
		t.Errorf("%d launches; the last status of the budget lets the pool launch", g.Launched())
	}
	g.run(reconcile.RunOptions{})
	g.lose()
	report = g.run(reconcile.RunOptions{Names: []string{g.pool.Name}})
	if gate := report.SpotPools[0].Gate; gate == nil || !gate.Closed || g.Launched() != 2 {
		t.Errorf("the last status closes the gate: %+v, and %d launches", gate, g.Launched())
	}
}
