package reconcile_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// desk is a cluster and a store with budgets alone: no cloud is there to ask.
type desk struct {
	t       *testing.T
	cluster *fakeCluster
	dir     string
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
	return &reconcile.Engine{Cluster: d.cluster.dependency, Store: d.store(), Actor: "test", LockTimeout: 5 * time.Second, FreezeLag: time.Millisecond}
}

// mortalEngine is a process that may be killed at any effect of its own.
func (d *desk) mortalEngine(m *mortal) *reconcile.Engine {
	e := d.engine()
	e.Store = m.store(e.Store)
	e.Cluster = func(context.Context) (reconcile.Cluster, error) { return &mortalCluster{Cluster: d.cluster, m: m}, nil }
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
	state, err := d.engine().CreateBudget(context.Background(), b.WithDefaults())
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
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		d.t.Fatalf("a run: %v", err)
	}
	for _, b := range report.Budgets {
		if b.Outcome == reconcile.Failed {
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
		switch b := d.Budget; {
		case b == nil:
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

func TestUsageSurvivesPods(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	first := d.cluster.start("ml", "first", 2)
	wantConsumed(t, d.run(), "0.000")
	d.cluster.step(30 * time.Minute)
	wantConsumed(t, d.run(), "1.000")
	d.cluster.remove(first) // between two runs
	never := d.cluster.start("ml", "never-seen", 4)
	d.cluster.step(15 * time.Minute)
	d.cluster.remove(never) // born and gone between two runs
	wantConsumed(t, d.run(), "2.000")
	ends := d.cluster.start("ml", "ends", 1)
	d.cluster.step(15 * time.Minute)
	d.cluster.finish(ends) // by itself, and stays to be seen
	d.cluster.forget()
	d.cluster.step(15 * time.Minute)
	wantConsumed(t, d.run(), "2.250")
	d.cluster.remove(ends)
	wantConsumed(t, d.run(), "2.250")
}

// TestWeightsOfOneBudgetAlone counts a resource that is no GPU by default for the
// budget that weighs it, and for no other.
func TestWeightsOfOneBudgetAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.declare(func(b *budget.Declaration) {
		b.Name, b.ResourceWeights = "weighs", map[string]string{"example.com/tensor": "1/2", "nvidia.com/gpu": "2"}
	})
	d.cluster.start("ml", "a", 1, func(s *gpu.Sighting) {
		s.Shares = append(s.Shares, gpu.Share{Resource: "example.com/tensor", Units: big.NewRat(4, 1), Weight: big.NewRat(1, 1)})
	})
	d.cluster.step(30 * time.Minute)
	report := d.run()
	wantConsumed(t, report, "0.500")
	if got := report.Budgets[1].ConsumedGPUHours; got != "2.000" {
		t.Errorf("weighed on its own it is %s GPU-hours, want 2.000", got)
	}
}

// TestOldIntervalsAreForgotten keeps the ledger as small as the longest window
// lets it be.
func TestOldIntervalsAreForgotten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(func(b *budget.Declaration) { b.Window = "2h" })
	for range 8 {
		uid := d.cluster.start("ml", "a", 1)
		d.run()
		d.cluster.step(12 * time.Hour)
		d.cluster.remove(uid)
		d.run()
	}
	var closed []string
	for key := range d.documents() {
		if strings.Contains(key, "/closed-") {
			closed = append(closed, key)
		}
	}
	if len(closed) == 0 || len(closed) > 3 {
		t.Errorf("closed shards: %v", closed)
	}
	wantConsumed(t, d.run(), "2.000")
}

// TestLabelEditMovesNothing has a pod change its label: what it used, and goes
// on to use, is charged as when it was first seen.
func TestLabelEditMovesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 2)
	d.run()
	d.cluster.mu.Lock()
	d.cluster.pods[uid].Labels = map[string]string{"team": "b"}
	d.cluster.changed(*d.cluster.pods[uid], false)
	d.cluster.mu.Unlock()
	d.cluster.step(time.Hour)
	wantConsumed(t, d.run(), "2.000")
}

func TestVanishedPodIsEstimated(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 2)
	d.cluster.step(10 * time.Minute)
	d.run()
	d.cluster.remove(uid)
	d.cluster.forget()
	d.cluster.step(30 * time.Minute)
	report := d.run()
	b := report.Budgets[0]
	// It ran for ten minutes for certain, and for thirty more at most.
	if b.ConsumedGPUHours != "0.833" || b.EstimatedGPUHours != "0.500" {
		t.Errorf("%s are consumed, %s of them estimated", b.ConsumedGPUHours, b.EstimatedGPUHours)
	}
	if b.Coverage.String() >= "1" {
		t.Errorf("the coverage is %s, though a gap is in the window", b.Coverage)
	}
	if again := d.run(); consumed(t, again) != b.ConsumedGPUHours {
		t.Errorf("the next run says %s, and this one %s", consumed(t, again), b.ConsumedGPUHours)
	}
}

func TestEventsRefineEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 2)
	d.run()
	d.cluster.step(10 * time.Minute)
	d.cluster.events[uid] = d.cluster.now
	d.cluster.remove(uid)
	d.cluster.forget()
	d.cluster.step(30 * time.Minute)
	wantConsumed(t, d.run(), "0.333")
}

func TestUnreplayedRunsListEverything(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.start("ml", "a", 1)
	for range 4 {
		d.cluster.forget()
		d.cluster.step(15 * time.Minute)
		d.run()
	}
	wantConsumed(t, d.run(), "1.000")
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

func TestAlertsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.start("ml", "a", 2)
	d.run()
	d.cluster.step(time.Hour)
	wantTold(t, d.run(), "done alert")
	wantTold(t, d.run())
	d.cluster.step(time.Hour)
	wantTold(t, d.run(), "done alert", "done alert")
	wantTold(t, d.run())
	if n := len(d.cluster.alerts); n != 3 {
		t.Errorf("%d Events were recorded, want 3", n)
	}
	if acts := slices.DeleteFunc(slices.Clone(d.cluster.acts), func(s string) bool { return s == "Alert ml" }); len(acts) > 0 {
		t.Errorf("beside Events, it did %v", acts)
	}
	if d.cluster.calls["Freezes"]+d.cluster.calls["Paused"] > 0 {
		t.Error("a budget that only alerts asked what is frozen or paused")
	}
}

func TestAlertThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.start("ml", "a", 2)
	d.cluster.step(time.Hour)
	d.cluster.failing["Alert"] = errors.New("create events in ml: forbidden")
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != reconcile.Failed || !strings.Contains(report.Budgets[0].Error.Message, "create events") {
		t.Errorf("got %v, %+v", err, report.Budgets)
	}
	delete(d.cluster.failing, "Alert")
	wantTold(t, d.run(), "done alert")
}

func TestFreezeIsLifted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Window, b.Thresholds = "1h", []int{100} })
	uid := d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	report := d.run()
	wantTold(t, report, "done alert", "done freeze")
	if len(d.cluster.frozen) != 1 || !slices.Equal(report.Budgets[0].Enforced, []budget.Action{budget.Freeze}) {
		t.Errorf("in force is %v, and the report says %v", d.cluster.frozen, report.Budgets[0].Enforced)
	}
	wantTold(t, d.run())
	d.cluster.remove(uid)
	d.cluster.step(45 * time.Minute)
	wantTold(t, d.run(), "done unfreeze")
	if len(d.cluster.frozen) > 0 {
		t.Error("the freeze is still in force")
	}
}

func TestPauseIsUndone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Pause), func(b *budget.Declaration) { b.Window, b.Thresholds = "1h", []int{100} })
	d.cluster.start("ml", "a", 4, ownedBy("Job", "train"))
	d.cluster.start("ml", "b", 4, ownedBy("Deployment", "scaled"))
	loose := d.cluster.start("ml", "c", 4)
	d.cluster.driven["scaled"] = true
	d.cluster.step(time.Hour)
	report := d.run()
	wantTold(t, report, "done alert", "skipped suspend scaled", "done suspend train")
	if report.Budgets[0].Outcome != reconcile.Done || len(report.Budgets[0].Warnings) == 0 {
		t.Errorf("outcome %s, warnings %v", report.Budgets[0].Outcome, report.Budgets[0].Warnings)
	}
	d.cluster.driven["scaled"] = false
	wantTold(t, d.run(), "done suspend scaled")
	d.cluster.remove(loose)
	d.cluster.step(45 * time.Minute)
	wantTold(t, d.run(), "done resume train", "done resume scaled")
	wantTold(t, d.run())
}

func TestEvictions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Enforce.MaxEvictionsPerRun, b.Thresholds = 2, []int{100}
	})
	for _, name := range []string{"a", "b", "c", "d"} {
		d.cluster.start("ml", name, 1)
	}
	d.cluster.start("ml", "kept", 1, func(s *gpu.Sighting) { s.Live.Annotations = map[string]string{"gpupool/protected": "true"} })
	d.cluster.start("web", "other", 1, func(s *gpu.Sighting) { s.Labels = nil })
	d.cluster.blocked["b"] = true
	d.cluster.step(time.Hour)
	used := d.run()
	wantTold(t, used, "done alert", "done freeze", "done evict a", "skipped evict b", "done evict c")
	if first := slices.IndexFunc(d.cluster.acts, func(s string) bool { return strings.HasPrefix(s, "Evict") }); d.cluster.acts[first-1] != "Freeze team-a" {
		t.Errorf("an eviction came before the freeze: %v", d.cluster.acts)
	}
	next := d.run()
	wantTold(t, next, "skipped evict b", "done evict d")
	wantConsumed(t, next, consumed(t, used)) // enforcement lowers no usage
	d.cluster.blocked["b"] = false
	wantTold(t, d.run(), "done evict b")
	wantTold(t, d.run())
	if _, there := d.cluster.pods[d.cluster.list()[0].UID]; !there || len(d.cluster.list()) != 2 {
		t.Errorf("what is left: %v", d.cluster.list())
	}
}

func TestNothingIsEvictedWhereTheFreezeFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	d.cluster.failing["Freeze"] = errors.New("create validatingadmissionpolicybindings: forbidden")
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, report, "done alert", "failed freeze", "skipped evict a")
	if failed, _ := report.Failures(); failed != 1 || len(d.cluster.evicted) > 0 {
		t.Errorf("%d failed, evicted %v", failed, d.cluster.evicted)
	}
}

func TestGraceKeepsPods(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.GPUHours, b.Enforce.GracePeriod = []int{100}, "100", "20m"
	})
	d.cluster.start("ml", "a", 8)
	d.run()
	d.cluster.step(30 * time.Minute)
	d.run()
	b.GPUHours = "1" // long passed
	if _, err := d.engine().UpdateBudget(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.run(), "done alert")
	d.cluster.step(19 * time.Minute)
	wantTold(t, d.run())
	d.cluster.step(time.Minute)
	wantTold(t, d.run(), "done freeze", "done evict a")
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
	_, updateErr := d.engine().UpdateBudget(context.Background(), b)
	_, deleteErr := d.engine().DeleteBudget(context.Background(), b)
	for _, err := range []error{updateErr, deleteErr} {
		var wrong *reconcile.ClusterError
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
	if err != nil || len(report.Budgets) != 1 || report.Budgets[0].Outcome != reconcile.Failed {
		t.Fatalf("got %v, %+v", err, report.Budgets)
	}
	none := d.engine()
	none.Cluster = nil
	report, err = none.Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != reconcile.Failed {
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

// TestChangedMeanwhile changes the budget between its judgement and its
// enforcement: nothing is done by the old declaration.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	done := false
	d.cluster.during = func(method string) {
		if method == "Freezes" && !done {
			done = true
			b.GPUHours = "1000"
			if _, err := d.engine().UpdateBudget(context.Background(), b); err != nil {
				t.Error(err)
			}
		}
	}
	report := d.run()
	if report.Budgets[0].Outcome != reconcile.Skipped || len(d.cluster.acts) > 0 {
		t.Errorf("outcome %s, done: %v", report.Budgets[0].Outcome, d.cluster.acts)
	}
	d.cluster.during = nil
	wantTold(t, d.run())
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
	if err != nil || report.Budgets[0].Outcome != reconcile.Done || report.Budgets[1].Outcome != reconcile.Skipped {
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

// TestUsageIsLive asks what was used this very moment: it writes nothing, and
// says what the next run will.
func TestUsageIsLive(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare()
	gone := d.cluster.start("ml", "gone", 2)
	d.cluster.step(30 * time.Minute)
	d.run()
	d.cluster.remove(gone)
	d.cluster.start("ml", "here", 4)
	d.cluster.step(30 * time.Minute)
	before := d.documents()
	live, err := d.engine().BudgetUsage(context.Background(), b.Name)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range live.Pods {
		names = append(names, p.Record.Name+" "+budget.GPUs(p.GPUs)+" "+budget.Hours(p.Consumed))
	}
	if diff := cmp.Diff([]string{"gone 2 1.000", "here 4 2.000"}, names); diff != "" || budget.Hours(live.Usage.Consumed) != "3.000" || live.Usage.Limit == 0 {
		t.Errorf("usage %+v, pods\n%s", live.Usage, diff)
	}
	other, err := d.engine().Usage(context.Background(), budget.Declaration{Window: "15m", Selector: budget.Selector{Namespaces: []string{"ml"}}}.WithDefaults())
	if err != nil || budget.Hours(other.Usage.Consumed) != "1.000" || other.Usage.Limit != 0 {
		t.Errorf("of a namespace: %v, %+v", err, other.Usage)
	}
	if diff := cmp.Diff(before, d.documents()); diff != "" {
		t.Errorf("the store changed\n%s", diff)
	}
	blank := d.engine()
	blank.Store = nil
	other, err = blank.Usage(context.Background(), budget.Declaration{Window: "1h", Selector: budget.Selector{Namespaces: []string{"ml"}}}.WithDefaults())
	if err != nil || budget.Hours(other.Usage.Consumed) != "2.000" {
		t.Errorf("without a store: %v, %+v", err, other.Usage)
	}
	wantConsumed(t, d.run(), "3.000")
}
