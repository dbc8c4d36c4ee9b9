package reconciletest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// Fixture is a cluster and a store for budgets, without a cloud.
type Fixture struct {
	t       testing.TB
	Cluster *Cluster
	Dir     string
	Keep    time.Duration // what runs keep of the ledger in any case
}

// NewFixture is a cluster where nothing runs yet, and a new store.
func NewFixture(t testing.TB) *Fixture {
	t.Helper()
	return &Fixture{t: t, Cluster: NewCluster(), Dir: t.TempDir() + "/store"}
}

// Store opens the store, as each process does.
func (d *Fixture) Store() store.Store {
	d.t.Helper()
	s, err := directory.Open(d.Dir, directory.Options{Create: true})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// Process is the world of a new process.
func (d *Fixture) Process() reconcile.World {
	return reconcile.World{
		Cluster: d.Cluster.Connect, Store: d.Store(), Actor: "test", LockTimeout: 5 * time.Second, FreezeLag: time.Millisecond,
		PollInterval: 5 * time.Millisecond, Clock: d.Cluster.Now,
	}
}

// Runner is a new process that runs.
func (d *Fixture) Runner() *reconcile.Runner { return d.Process().Runner() }

// Budgets returns a new process that only manages budgets: no run is under way in it.
func (d *Fixture) Budgets() *budgets.Flow { return d.Process().Budgets() }

// ProcessBy is the world of a process that meets a fault.
func (d *Fixture) ProcessBy(p *faults.Process) reconcile.World { return Possess(d.Process(), p) }

// Declare creates a budget of 4 GPU-hours a day for team a, changed as asked.
func (d *Fixture) Declare(changes ...func(*budget.Declaration)) budget.Declaration {
	d.t.Helper()
	b := budget.Declaration{
		Name: "team-a", GPUHours: "4", Window: "24h", Selector: budget.Selector{MatchLabels: map[string]string{"team": "a"}},
		Enforce: budget.Enforcement{Action: budget.AlertOnly, GracePeriod: "0s"},
	}
	for _, change := range changes {
		change(&b)
	}
	state, err := d.Budgets().Create(context.Background(), b.WithDefaults())
	if err != nil {
		d.t.Fatalf("creating the budget: %v", err)
	}
	return state.Declaration
}

// Run runs once, and fails the test where a budget failed.
func (d *Fixture) Run() reconcile.Report {
	d.t.Helper()
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{KeepLedger: d.Keep})
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

// DryRun runs without doing anything.
func (d *Fixture) DryRun() reconcile.Report {
	d.t.Helper()
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{DryRun: true})
	if err != nil {
		d.t.Fatalf("a dry run: %v", err)
	}
	return report
}

// Consumed returns the usage of the budget team-a in a report, in GPU-hours.
func Consumed(t *testing.T, r reconcile.Report) string {
	t.Helper()
	for _, b := range r.Budgets {
		if b.Name == "team-a" && b.UsageReport != nil {
			return b.ConsumedGPUHours
		}
	}
	t.Fatalf("the report lacks team-a: %+v", r.Budgets)
	return ""
}

// Told lists the decisions of a report as "outcome kind what".
func Told(r reconcile.Report) []string {
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

// Documents are all of the store's, by key.
func (d *Fixture) Documents() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	for _, kind := range []store.Kind{store.Budgets, store.Ledger, store.Statuses, store.Tombstones} {
		docs, err := d.Store().List(context.Background(), kind)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, doc := range docs {
			all[doc.Key.String()] = string(doc.Data)
		}
	}
	return all
}

// LoseLedger deletes the documents of the ledger whose names contain a text.
func LoseLedger(t *testing.T, s store.Store, text string) {
	t.Helper()
	docs, err := s.List(context.Background(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, doc := range docs {
		if !strings.Contains(doc.Key.Name, text) {
			continue
		}
		gone++
		if err := s.Delete(context.Background(), doc.Key, doc.Revision); err != nil {
			t.Fatal(err)
		}
	}
	if gone == 0 {
		t.Fatalf("nothing of the ledger is called %s", text)
	}
}
