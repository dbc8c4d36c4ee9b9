package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// desk is a cluster and a store with budgets alone: no cloud is there to ask.
type desk struct {
	t       *testing.T
	cluster *fakeCluster
	dir     string
	keep    time.Duration // what runs keep of the ledger in any case
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t: t, cluster: newFakeCluster(), dir: t.TempDir() + "/store"}
}

func (d *desk) store() store.Store {
	d.t.Helper()
	s, err := directory.Open(d.dir, directory.Options{Create: true})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) engine() *reconcile.Engine {
	return &reconcile.Engine{Cluster: d.cluster.dependency, Store: d.store(), Actor: "test", LockTimeout: 5 * time.Second, FreezeLag: time.Millisecond, Clock: d.cluster.clock}
}

// mortalEngine is a process that may be killed at any effect of its own.
func (d *desk) mortalEngine(m *mortal) *reconcile.Engine {
	e := d.engine()
	e.Store = m.store(e.Store)
	e.Cluster = func(context.Context) (budgets.Cluster, error) { return &mortalCluster{Cluster: d.cluster, m: m}, nil }
	return e
}

// declare creates a budget of 4 GPU-hours a day for team a, changed as asked.
func (d *desk) declare(changes ...func(*budget.Declaration)) budget.Declaration {
	d.t.Helper()
	b := budget.Declaration{
		Name: "team-a", GPUHours: "4", Window: "24h", Selector: budget.Selector{MatchLabels: map[string]string{"team": "a"}},
		Enforce: budget.Enforcement{Action: budget.AlertOnly, GracePeriod: "0s"},
	}
	for _, change := range changes {
		change(&b)
	}
	state, err := d.engine().Budgets().Create(context.Background(), b.WithDefaults())
	if err != nil {
		d.t.Fatalf("creating the budget: %v", err)
	}
	return state.Declaration
}

func enforcing(a budget.Action) func(*budget.Declaration) {
	return func(d *budget.Declaration) { d.Enforce.Action = a }
}

// run runs once, and fails the test where a budget failed.
func (d *desk) run() reconcile.Report {
	d.t.Helper()
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{KeepLedger: d.keep})
	if err != nil {
		d.t.Fatalf("a run: %v", err)
	}
	for _, b := range report.Budgets {
		if b.Outcome == outcome.Failed {
			d.t.Fatalf("the budget %s failed: %s", b.Name, b.Error.Message)
		}
	}
	return report
}

// dryRun runs without doing anything.
func (d *desk) dryRun() reconcile.Report {
	d.t.Helper()
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{DryRun: true})
	if err != nil {
		d.t.Fatalf("a dry run: %v", err)
	}
	return report
}

// consumed is what a report says of the budget team-a, in GPU-hours.
func consumed(t *testing.T, r reconcile.Report) string {
	t.Helper()
	for _, b := range r.Budgets {
		if b.Name == "team-a" && b.UsageReport != nil {
			return b.ConsumedGPUHours
		}
	}
	t.Fatalf("the report says nothing of team-a: %+v", r.Budgets)
	return ""
}

// told lists the decisions of a report as "outcome kind what".
func told(r reconcile.Report) []string {
	var list []string
	for _, d := range r.Decisions {
		text := string(d.Outcome) + " " + d.Kind()
		switch b, _ := d.Decision.(budget.Decision); {
		case b.Pod != nil:
			text += " " + b.Pod.Name
		case b.Owner != nil:
			text += " " + b.Owner.Name
		}
		list = append(list, text)
	}
	return list
}

func wantTold(t *testing.T, r reconcile.Report, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, told(r)); diff != "" {
		t.Errorf("decisions (-want +got)\n%s", diff)
	}
}

func wantConsumed(t *testing.T, r reconcile.Report, want string) {
	t.Helper()
	if got := consumed(t, r); got != want {
		t.Errorf("%s GPU-hours are consumed, want %s", got, want)
	}
}

// wantEstimated and wantBound check what a report says of its first budget.
func wantEstimated(t *testing.T, r reconcile.Report, want string) {
	t.Helper()
	if got := r.Budgets[0].EstimatedGPUHours; got != want {
		t.Errorf("%s GPU-hours are estimated, want %s", got, want)
	}
}

func wantBound(t *testing.T, r reconcile.Report, want string) {
	t.Helper()
	if got := r.Budgets[0].ErrorBoundGPUHours; got != want {
		t.Errorf("the error bound is %s GPU-hours, want %s", got, want)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict))
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	before := d.documents()
	report := d.dryRun()
	wantConsumed(t, report, "8.000")
	wantTold(t, report, "planned alert", "planned alert", "planned alert", "planned freeze", "planned evict a")
	if diff := cmp.Diff(before, d.documents()); diff != "" {
		t.Errorf("the store changed (-before +after)\n%s", diff)
	}
	if len(d.cluster.acts) > 0 {
		t.Errorf("the cluster was changed: %v", d.cluster.acts)
	}
	acted := d.run()
	wantConsumed(t, acted, "8.000")
	wantTold(t, acted, "done alert", "done alert", "done alert", "done freeze", "done evict a")
}

// documents are all of the store's, by key.
func (d *desk) documents() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	for _, kind := range []store.Kind{store.Budgets, store.Ledger, store.Statuses, store.Tombstones} {
		docs, err := d.store().List(context.Background(), kind)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, doc := range docs {
			all[doc.Key.String()] = string(doc.Data)
		}
	}
	return all
}

func TestWrongClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Evict))
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	d.cluster.uid = "99999999-2222-3333-4444-555555555555"
	before := d.documents()
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if failed, rest := report.Failures(); failed != 1 || rest != 0 || !strings.Contains(report.Budgets[0].Error.Message, b.ClusterUID) {
		t.Errorf("the report: %+v", report.Budgets)
	}
	_, updateErr := d.engine().Budgets().Update(context.Background(), b)
	_, deleteErr := d.engine().Budgets().Delete(context.Background(), b)
	for _, err := range []error{updateErr, deleteErr} {
		var wrong *budgets.ClusterError
		if !errors.As(err, &wrong) {
			t.Errorf("got %v, want a ClusterError", err)
		}
	}
	after := d.documents()
	delete(after, "statuses/last_run")
	if diff := cmp.Diff(before, after); diff != "" || len(d.cluster.acts) > 0 {
		t.Errorf("something was touched: %v\n%s", d.cluster.acts, diff)
	}
}

func TestUnreachableClusterFailsBudgets(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.failing["UID"] = errors.New("get namespaces kube-system: connection refused")
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || len(report.Budgets) != 1 || report.Budgets[0].Outcome != outcome.Failed {
		t.Fatalf("got %v, %+v", err, report.Budgets)
	}
	none := d.engine()
	none.Cluster = nil
	report, err = none.Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Failed {
		t.Errorf("without a cluster: %v, %+v", err, report.Budgets)
	}
}

func TestNoBudgetsAskNoCluster(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	report := d.run()
	if len(d.cluster.calls) > 0 || len(report.Calls) > 0 {
		t.Errorf("calls: %v", d.cluster.calls)
	}
}

func TestLockedBudgetIsSkipped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.declare(func(b *budget.Declaration) { b.Name, b.Thresholds = "beside", []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	lock, err := d.store().Lock(context.Background(), "budget/team-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	e := d.engine()
	e.LockTimeout = 0
	report, err := e.Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Done || report.Budgets[1].Outcome != outcome.Skipped {
		t.Fatalf("got %v, %+v", err, report.Budgets)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.run(), "done alert")
}

func TestStatusReadsTheStoreAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.start("ml", "a", 2)
	d.cluster.step(time.Hour)
	d.run()
	calls := d.cluster.Calls()
	status, err := d.engine().Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Budgets) != 1 || status.Budgets[0].ConsumedGPUHours != "2.000" || status.Budgets[0].Phase != declaration.Active {
		t.Errorf("the status: %+v", status.Budgets)
	}
	if diff := cmp.Diff(calls, d.cluster.Calls()); diff != "" {
		t.Errorf("the cluster was asked:\n%s", diff)
	}
}
