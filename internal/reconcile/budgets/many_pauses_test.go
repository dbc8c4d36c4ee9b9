package budgets_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

// crowded is a fixture with two tenants. One runs many workloads with long labels under a budget that pauses,
// and the other one pod under a budget that evicts.
func crowded(t *testing.T, workloads int) (d *fixture, many, other budget.Declaration) {
	t.Helper()
	d = newFixture(t)
	many = d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) {
		b.Name, b.Selector = "a-many", budget.Selector{Namespaces: []string{"ml"}}
	})
	other = d.Declare(enforcing(budget.Evict), quietly, func(b *budget.Declaration) {
		b.Name, b.Selector = "b-other", budget.Selector{Namespaces: []string{"web"}}
	})
	for n := range workloads {
		labels := map[string]string{"team": "a"}
		for m := range 20 {
			labels[fmt.Sprintf("example.com/of-%03d-%02d", n, m)] = strings.Repeat(string(rune('a'+(n+m)%26)), 60)
		}
		name := fmt.Sprintf("train-%03d", n)
		d.Cluster.Start("ml", name, 1, ownedBy("Deployment", name), func(s *gpu.Pod) { s.Labels = labels })
		w := budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: "uid-of-" + name}}
		d.Cluster.Workloads[w.UID] = &reconciletest.Workload{Workload: w, Replicas: 2, Labels: labels}
	}
	d.Cluster.Start("web", "hog", 8)
	d.Cluster.Step(time.Hour)
	return d, many, other
}

// TestManyPausesDelayNoOtherBudget acts on a budget before another has paused all its workloads. The number
// of workloads affects neither the writes nor the documents. Then it resumes all.
func TestManyPausesDelayNoOtherBudget(t *testing.T) {
	t.Parallel()
	const workloads = 600
	d, many, _ := crowded(t, workloads)
	p := d.Process()
	watched := storetest.Wrap(p.Store, &storetest.Faults{})
	p.Store = watched
	begun := time.Now()
	report, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	for _, op := range watched.Ops() {
		if op.Method == "Write" && op.Key.Kind == store.Pauses {
			writes++
		}
	}
	t.Logf("%d pauses took %s, with %d writes of what is held", workloads, time.Since(begun), writes)
	for _, b := range report.Budgets {
		if b.Outcome != outcome.Done {
			t.Fatalf("%s is %s: %+v", b.Name, b.Outcome, b.Error)
		}
	}
	if n := len(d.Cluster.Stopped()); n != workloads || len(d.holds()) != workloads {
		t.Errorf("%d are stopped, and %d held", n, len(d.holds()))
	}
	waited := 0
	for _, act := range d.Cluster.Acts[:slices.Index(d.Cluster.Acts, "Evict hog")] {
		if strings.HasPrefix(act, "Pause ") {
			waited++
		}
	}
	if waited > 50 {
		t.Errorf("the other budget's eviction waited for %d pauses", waited)
	}
	if writes > 120 {
		t.Errorf("%d writes for %d workloads", writes, workloads)
	}
	docs, err := d.Store().List(context.Background(), store.Pauses)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if len(doc.Data) > 512<<10 {
			t.Errorf("the document %s has %d bytes", doc.Key, len(doc.Data))
		}
	}
	many.GPUHours = "10000"
	if _, err := d.Budgets().Update(context.Background(), many); err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	d.Run()
	t.Logf("their resumption took %s", time.Since(begun))
	if n := len(d.Cluster.Stopped()); n > 0 || len(d.holds()) > 0 {
		t.Errorf("%d are stopped, and %d held", n, len(d.holds()))
	}
}

// TestTimeThatEndsAmongPausesSkipsNobodyElse ends the time of a run at its hundredth
// pause: the other budget was acted on by then, and the next run goes on.
func TestTimeThatEndsAmongPausesSkipsNobodyElse(t *testing.T) {
	t.Parallel()
	d, _, _ := crowded(t, 150)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	d.Cluster.Hook = faults.Before(func(method string) {
		if method == "Pause" && len(d.Cluster.Stopped()) == 99 {
			stop()
		}
	})
	report, err := d.Runner().Run(ctx, reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, report, map[string]outcome.Outcome{"a-many": outcome.Skipped, "b-other": outcome.Done})
	if n := len(d.Cluster.Stopped()); n != 100 || len(d.holds()) != 100 || len(d.Cluster.Evicted) != 1 {
		t.Errorf("%d are stopped, %d held, evicted %v", n, len(d.holds()), d.Cluster.Evicted)
	}
	d.Cluster.Hook = nil
	d.Run()
	if n := len(d.Cluster.Stopped()); n != 150 || len(d.holds()) != 150 {
		t.Errorf("%d are stopped, %d held", n, len(d.holds()))
	}
}

// TestDamagedPausesStopOnlyTheirBudget resumes nothing if one of several documents of pauses cannot be read,
// and reconciles other budgets.
func TestDamagedPausesStopOnlyTheirBudget(t *testing.T) {
	t.Parallel()
	d, many, _ := crowded(t, 120)
	d.Run()
	key := store.Key{Kind: store.Pauses, Name: many.UID + "/1"}
	doc, err := d.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Store().Write(context.Background(), key, append(doc.Data[:40:40], '}'), doc.Revision); err != nil {
		t.Fatal(err)
	}
	d.raise(many)
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, report, map[string]outcome.Outcome{"a-many": outcome.Failed, "b-other": outcome.Done})
	if n := len(d.Cluster.Stopped()); n != 120 {
		t.Errorf("%d are stopped", n)
	}
	if _, err := d.Budgets().Delete(context.Background(), many); err == nil {
		t.Error("it was destroyed, and what it holds can't be read")
	}
}

func wantOutcomes(t *testing.T, report reconcile.Report, want map[string]outcome.Outcome) {
	t.Helper()
	got := map[string]outcome.Outcome{}
	for _, b := range report.Budgets {
		got[b.Name] = b.Outcome
	}
	if !maps.Equal(got, want) {
		t.Errorf("the outcomes are %v, want %v: %+v", got, want, report.Budgets)
	}
}

func count(list []string, text string) int {
	n := 0
	for _, s := range list {
		if s == text {
			n++
		}
	}
	return n
}
