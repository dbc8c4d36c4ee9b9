package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// RunOptions say what a run may do.
type RunOptions struct {
	// DryRun decides and reports, takes no lock, and changes nothing anywhere.
	DryRun bool
	// Wait settles what was launched, for at most WaitTimeout.
	Wait        bool
	WaitTimeout time.Duration
	// RunLockTimeout bounds the wait for the run lock.
	RunLockTimeout time.Duration
	// KeepLedger is for how long the ledger keeps what ended, also where no window
	// reaches back to it. Zero means DefaultKeepLedger.
	KeepLedger time.Duration
	// AcceptLoss is the reason for which a person goes on without all that is lost
	// of the ledger by now; empty where nobody does.
	AcceptLoss string
	// State adds declarations out of Terraform state to those of the store.
	State *declaration.TerraformState
}

// RunLockedError says that another run is under way.
type RunLockedError struct{ Err error }

// Error says who holds the run lock.
func (e *RunLockedError) Error() string { return "another run is under way: " + e.Err.Error() }

// Unwrap returns the lock's error.
func (e *RunLockedError) Unwrap() error { return e.Err }

// Run brings everything declared in the store to what is declared, once. The
// report says what was done, also when the context ends in the middle. The error
// is not nil only where no run took place: the run lock is held, or the store
// can't be read.
func (e *Engine) Run(ctx context.Context, o RunOptions) (Report, error) {
	r := &run{Engine: e, options: o, report: Report{
		SchemaVersion: ReportSchemaVersion, RunID: randomID(), StartedAt: time.Now().UTC(), DryRun: o.DryRun,
		Decisions: []Result{}, SpotPools: []PoolReport{}, Budgets: []BudgetReport{}, StockPools: []struct{}{}, Warnings: []string{},
	}}
	var err error
	if o.DryRun {
		err = r.run(ctx)
	} else {
		err = e.withNamedLock(ctx, "run", o.RunLockTimeout, r.run)
		if isLocked(err) {
			return r.report, &RunLockedError{Err: err}
		}
	}
	return r.report, err
}

// run is one run.
type run struct {
	*Engine
	options RunOptions
	mu      sync.Mutex
	report  Report
	budgets map[string]bool // the names of all that the store has a record of
	pools   map[string]bool // the uids of the pools that it has a sound record of
	// statuses are those that this run made, written or not, by the budget's name.
	statuses map[string]budget.Status
	// known are the uids of the budgets that are declared, of any cluster; unread
	// says that some records could not be read.
	known  map[string]bool
	unread bool
}

func (r *run) run(ctx context.Context) error {
	before := r.Calls()
	if r.options.State != nil {
		if err := r.takeOver(ctx, r.options.State); err != nil {
			return err
		}
	}
	budgets, err := r.declaredBudgets(ctx)
	if err != nil {
		return err
	}
	pools, err := r.declared(ctx)
	if err != nil {
		return err
	}
	r.reconcileBudgets(ctx, budgets, len(pools))
	var regions errgroup.Group
	for region, targets := range byRegion(pools) {
		regions.Go(func() error { r.reconcileRegion(ctx, region, targets); return nil })
	}
	_ = regions.Wait()
	slices.SortFunc(r.report.SpotPools, func(a, b PoolReport) int {
		return strings.Compare(a.Region+"/"+a.Name, b.Region+"/"+b.Name)
	})
	slices.SortFunc(r.report.Budgets, func(a, b BudgetReport) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(r.report.Decisions, func(a, b Result) int { return strings.Compare(a.Object(), b.Object()) })
	r.report.FinishedAt = time.Now().UTC()
	r.report.Calls = callsSince(before, r.Calls())
	if r.options.DryRun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordGrace)
	defer cancel()
	r.lookAfterTombstones(ctx)
	return r.saveStatus(ctx)
}

// target is one pool that the run looks after.
type target struct {
	declaration spotpool.Declaration
	phase       declaration.Phase
	updatedAt   time.Time
	journal     journal
	// unjudged says why the pool's gate can't be told, if it can't: the pool then
	// launches nothing and counts as failed.
	unjudged error
}

// declared reads every record and journal of the store. One that can't be read
// fails its own pool alone.
func (r *run) declared(ctx context.Context) ([]target, error) {
	docs, err := r.Store.List(ctx, store.SpotPools)
	if err != nil {
		return nil, err
	}
	var pools []target
	for _, doc := range docs {
		record, err := decodeListed[declaration.SpotPool](ctx, r.Store, doc)
		d := record.Declaration
		if err == nil && d.Key() != doc.Key.Name {
			err = fmt.Errorf("the record %s holds the declaration of %s", doc.Key, d.Key())
		}
		var j journal
		if err == nil {
			j, err = r.loadJournal(ctx, d)
		}
		if err != nil {
			region, name, _ := splitKey(doc.Key.Name)
			r.add(PoolReport{Region: region, Name: name, Outcome: Failed, Error: NewErrorReport(err)}, nil)
			continue
		}
		if r.pools == nil {
			r.pools = map[string]bool{}
		}
		r.pools[d.UID] = true
		pools = append(pools, target{declaration: d, phase: record.Phase, updatedAt: record.UpdatedAt, journal: j})
	}
	return pools, nil
}

// spot says whether the pool launches spot instances.
func (t target) spot() bool { return t.declaration.InstanceChargeType == spotpool.Spot }

func byRegion(pools []target) map[string][]target {
	regions := map[string][]target{}
	for _, p := range pools {
		regions[p.declaration.Region] = append(regions[p.declaration.Region], p)
	}
	return regions
}

func (r *run) add(p PoolReport, results []Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.SpotPools = append(r.report.SpotPools, p)
	r.report.Decisions = append(r.report.Decisions, results...)
}

func (r *run) warn(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.report.Warnings, text) {
		r.report.Warnings = append(r.report.Warnings, text)
	}
}
