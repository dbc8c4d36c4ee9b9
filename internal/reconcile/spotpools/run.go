package spotpools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Options say what a run may do with pools.
type Options struct {
	// Names are of the pools that are looked after; none for all.
	Names declaration.Names
	// Wait settles what was launched, for at most WaitTimeout.
	Wait        bool
	WaitTimeout time.Duration
	// Statuses are those that the run made of the budgets, by name, once it has
	// judged them: the gates of pools go by them, since those in the store may be
	// older. Nil where no run made any.
	Statuses func() map[string]budget.Status
	// RunID names the run, in events.
	RunID string
}

// Run is what one run does with the pools of a store.
type Run struct {
	flow     *Flow
	options  Options
	warnings *outcome.Warnings
	targets  []target
	statuses map[string]budget.Status // by the name of the budget
	uids     map[string]bool          // of the pools with a record that can be read
	keys     []string                 // see Keys
	nodes    []spotpool.Declaration   // see Nodes
	leftOut  []string                 // what journals had no room for to be told

	mu      sync.Mutex
	reports []Report
	results []outcome.Result
}

// Run begins a run. Its warnings go to warnings. It looks at the cluster afresh: what it
// begins for may have come since another run of this process looked.
func (f *Flow) Run(o Options, warnings *outcome.Warnings) *Run {
	f.outbox.Begin(o.RunID)
	f.forgetSight()
	return &Run{flow: f, options: o, warnings: warnings, uids: map[string]bool{}}
}

// target is one pool that the run looks after.
type target struct {
	declaration spotpool.Declaration
	phase       declaration.Phase
	updatedAt   time.Time
	journal     journal
	holds       spotpool.Holds
	hold        *spotpool.Hold // in force; nil where there is none
	// trouble says why it is unknown whether the pool's gate is open, or why its nodes
	// were not seen; nil where both are known. Such a pool counts as failed, whatever else
	// is done to it.
	trouble error
}

// spot says whether the pool launches spot instances.
func (t target) spot() bool { return t.declaration.InstanceChargeType == spotpool.Spot }

// Read reads all records and journals of pools. A pool whose record or journal can't
// be read fails alone.
func (r *Run) Read(ctx context.Context) error {
	list, err := r.flow.records().List(ctx)
	if err != nil {
		return err
	}
	holds := map[string]record.Excepted[declaration.Holds]{}
	if len(list) > 0 {
		if holds, err = record.Holds(r.flow.Keeper).All(ctx); err != nil {
			return err
		}
	}
	for _, l := range list {
		d := l.Record.Declaration
		r.keys = append(r.keys, l.Key)
		if l.Err == nil && d.Nodes != nil && l.Record.Phase == declaration.Active {
			r.nodes = append(r.nodes, d)
		}
		if !r.options.Names.Pool(l.Key) {
			continue
		}
		var j journal
		if err = l.Err; err == nil {
			j, err = r.flow.loadJournal(ctx, d)
		}
		hold := holds[d.UID]
		err = cmp.Or(err, hold.Err)
		if err != nil {
			region, name, _ := splitKey(l.Key)
			r.add(Report{Region: region, Name: name, Outcome: outcome.Failed, Error: outcome.NewErrorReport(err)}, nil)
			continue
		}
		r.uids[d.UID] = true
		r.flow.outbox.Note(j.Value.Untold...)
		if n := j.Value.LeftOut; n > 0 {
			r.leftOut = append(r.leftOut, history.LeftOut(d.Object(), "a journal", n))
		}
		r.targets = append(r.targets, target{
			declaration: d, phase: l.Record.Phase, updatedAt: l.Record.UpdatedAt, journal: j, holds: hold.Value.Holds, hold: hold.Value.At(r.flow.now()),
		})
	}
	return nil
}

// Keys are the names of all pools that the store has a record of, or that could not
// be brought into it, whatever the run looks after.
func (r *Run) Keys() []string {
	slices.Sort(r.keys)
	return slices.Compact(r.keys)
}

// tellLeft tells the history what earlier processes wrote down and may not have told.
func (r *Run) tellLeft(ctx context.Context) {
	added := r.flow.Keeper.TellAfter(ctx, &r.flow.outbox, r.flow.Clock, r.warnings.Add)
	if added.Events == 0 { // they were told, and so was what the journals had no room for
		return
	}
	for _, text := range r.leftOut {
		r.warnings.Add(text)
	}
}

// Recorded says whether the run read a pool's record with this uid.
func (r *Run) Recorded(uid string) bool { return r.uids[uid] }

// Declared is how many pools were read.
func (r *Run) Declared() int { return len(r.targets) }

// Reconcile brings the pools that were read to what is declared.
func (r *Run) Reconcile(ctx context.Context) {
	r.tellLeft(ctx)
	r.tellHolds(ctx)
	if r.options.Statuses != nil {
		r.statuses = r.options.Statuses()
	}
	var regions errgroup.Group
	for region, targets := range byRegion(r.targets) {
		regions.Go(func() error { r.reconcileRegion(ctx, region, targets); return nil })
	}
	_ = regions.Wait()
}

// Reports are those of the pools, by region and name.
func (r *Run) Reports() []Report {
	slices.SortFunc(r.reports, func(a, b Report) int { return strings.Compare(a.Region+"/"+a.Name, b.Region+"/"+b.Name) })
	return append([]Report{}, r.reports...)
}

// Results are what became of the decisions.
func (r *Run) Results() []outcome.Result { return r.results }

func byRegion(pools []target) map[string][]target {
	regions := map[string][]target{}
	for _, p := range pools {
		regions[p.declaration.Region] = append(regions[p.declaration.Region], p)
	}
	return regions
}

func (r *Run) add(p Report, results []outcome.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, p)
	r.results = append(r.results, results...)
}

// poolsAtOnce is how many pools of a run act at the same time.
const poolsAtOnce = 16

// reconcileRegion takes one look at a region, and then acts on each of its pools that
// needs it.
func (r *Run) reconcileRegion(ctx context.Context, region string, targets []target) {
	view, err := r.flow.lookFor(ctx, region, targets)
	if err != nil {
		for _, t := range targets {
			r.add(newReport(t.declaration, nil, outcome.Failed, err), nil)
		}
		return
	}
	for _, text := range view.warnings {
		r.warnings.Add(text)
	}
	for _, text := range view.markets.warnings(region, slices.ContainsFunc(targets, target.spot)) {
		r.warnings.Add(text)
	}
	var group errgroup.Group
	group.SetLimit(poolsAtOnce)
	for _, t := range targets {
		group.Go(func() error { r.reconcilePool(ctx, view, t); return nil })
	}
	_ = group.Wait()
	if !r.options.Wait {
		r.confirm(ctx, region, targets)
	}
}

func (r *Run) reconcilePool(ctx context.Context, view *regionView, t target) {
	d := t.declaration
	if err := sameAccount(d, view.accountID); err != nil {
		r.add(newReport(d, nil, outcome.Failed, err), nil)
		return
	}
	gate, gateErr := r.flow.gateBy(ctx, d, r.statuses)
	observation := view.observation(t)
	nodes := r.flow.seeNodes(ctx, d, t.journal.Value, observation, freshSight, false)
	if err := nodes.refuses(); err != nil {
		r.add(newReport(d, nil, outcome.Failed, err), nil)
		return
	}
	t.trouble = cmp.Or(gateErr, nodes.err)
	if nodes.remark != "" {
		r.warnings.Add(nodes.remark)
	}
	plan := spotpool.Decide(situation(d, observation, nodes, r.flow.untold(t.journal.Value), gate, t.hold))
	t.trouble = cmp.Or(t.trouble, journalLost(plan))
	switch {
	case ctx.Err() != nil:
		r.add(newReport(d, &plan, outcome.Skipped, errInterrupted), nil)
	case t.phase == declaration.Creating:
		r.leaveCreation(ctx, t, plan)
	case t.phase == declaration.Deleting:
		r.finishDeletion(ctx, t, plan)
	case len(plan.Decisions) == 0 && len(plan.Unmarked) == 0:
		if err := r.flow.keepJournal(ctx, d, t.journal, plan.Journal); err != nil {
			r.warnings.Add(err.Error())
		}
		r.add(t.report(plan, idleOutcome(plan)), nil)
	default:
		r.actOn(ctx, t, view, gate, plan)
	}
}

// actOn carries decisions out under the pool's lock, after a fresh look.
func (r *Run) actOn(ctx context.Context, t target, view *regionView, gate spotpool.Gate, seen spotpool.Plan) {
	p := &pass{declaration: t.declaration, gate: gate, gone: view.gone}
	p.saw(seen, view.observation(t))
	err := r.flow.records().Locked(ctx, t.declaration, func(ctx context.Context) error {
		// The declaration may have changed since it was listed.
		now, err := r.flow.records().Still(ctx, t.declaration, t.phase)
		if err != nil {
			return err
		}
		if now == nil {
			return errGone
		}
		p.declaration = now.Value.Declaration
		return r.flow.act(ctx, p)
	})
	if err == nil && r.options.Wait {
		err = r.flow.settle(ctx, p, r.options.WaitTimeout)
	}
	switch {
	case record.IsLocked(err), errors.Is(err, errGone):
		r.add(newReport(t.declaration, &seen, outcome.Skipped, err), nil)
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(p.failure, context.Cause(ctx))):
		r.add(newReport(t.declaration, p.plan(), outcome.Skipped, errInterrupted), p.results)
	case err != nil:
		r.add(newReport(t.declaration, p.plan(), outcome.Failed, err), p.results)
	case p.failure != nil && !errors.Is(p.failure, errNotYet):
		r.add(newReport(t.declaration, p.plan(), outcome.Failed, p.failure), p.results)
	default:
		t.declaration, t.trouble = p.declaration, cmp.Or(t.trouble, p.nodes.err)
		r.add(t.report(*p.plan(), actedOutcome(*p.plan(), p.results)), p.results)
	}
}

var errInterrupted = errors.New("the run was interrupted: the next one goes on with this pool")

var errGone = errors.New("the pool was changed or destroyed by someone else while this run looked at it")

// leaveCreation leaves an unfinished creation to terraform apply.
func (r *Run) leaveCreation(ctx context.Context, t target, plan spotpool.Plan) {
	d := t.declaration
	err, became := r.flow.records().Unmade(ctx, d, createLock(d), t.updatedAt), outcome.Skipped
	if !err.Forgotten.IsZero() {
		became = outcome.Failed
	}
	r.add(newReport(d, &plan, became, err), nil)
}

// finishDeletion goes on with a deletion that was interrupted.
func (r *Run) finishDeletion(ctx context.Context, t target, plan spotpool.Plan) {
	d := t.declaration
	wait := 30 * time.Second
	if r.options.Wait {
		wait = r.options.WaitTimeout
	}
	results, err := r.flow.emptyAndRemove(ctx, d, time.Now().Add(wait), false)
	switch {
	case record.IsLocked(err), isHeld(err):
		r.add(newReport(d, &plan, outcome.Skipped, err), results)
	case errors.Is(err, outcome.ErrPlanned):
		r.add(newReport(d, &plan, outcome.Planned, outcome.ErrDeletionPlanned), results)
	case err != nil:
		r.add(newReport(d, &plan, outcome.Failed, err), results)
	default:
		d.Minimum, d.Maximum = 0, 0
		report := newReport(d, &spotpool.Plan{Notices: []string{"its deletion is finished: nothing of it is left"}}, outcome.Done, nil)
		report.Deleted = true
		r.add(report, results)
	}
}

// report is the report of a pool with which nothing went wrong, unless there was trouble
// before.
func (t target) report(p spotpool.Plan, became outcome.Outcome) Report {
	if t.trouble != nil {
		became = outcome.Failed
	}
	return newReport(t.declaration, &p, became, t.trouble)
}

func idleOutcome(p spotpool.Plan) outcome.Outcome {
	if p.Shortfall > 0 {
		return outcome.Short
	}
	return outcome.Done
}

// actedOutcome is the outcome of a pool that was acted on. What is launching counts
// as done.
func actedOutcome(p spotpool.Plan, results []outcome.Result) outcome.Outcome {
	if outcome.AnyPlanned(results) {
		return outcome.Planned
	}
	if p.Shortfall > 0 && len(p.Decisions) == 0 {
		return outcome.Short
	}
	return outcome.Done
}

// Nodes are the active pools of the store that have nodes, those that the run does not
// look after too.
func (r *Run) Nodes() []spotpool.Declaration { return r.nodes }
