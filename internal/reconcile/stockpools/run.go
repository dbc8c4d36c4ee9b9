package stockpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Options say what a run may do with stock pools.
type Options struct {
	// RunID names the run, in events.
	RunID string
	// Names are of the pools that are looked after; none for all.
	Names declaration.Names
	// Wait has the run stay until the pods of what it changed are ready, for at most
	// WaitTimeout.
	Wait        bool
	WaitTimeout time.Duration
	// Statuses are those that the run made of the budgets, by name, once it has judged
	// them. Nil where no run made any.
	Statuses func() map[string]budget.Status
	// Rooms are the spot pools of which nodes could take pods, once the run has seen to
	// them; nil where there is nobody to ask.
	Rooms Rooms
}

// Run is what one run does with the stock pools of a store.
type Run struct {
	flow     *Flow
	options  Options
	warnings *outcome.Warnings
	targets  []target
	keys     []string // see Keys
	limits   *limits
	// waitUntil is when the run waits for pods no longer.
	waitUntil time.Time

	mu      sync.Mutex
	reports []Report
	results []outcome.Result
}

// target is one stock pool that the run looks after.
type target struct {
	declaration stockpool.Declaration
	phase       declaration.Phase
	updatedAt   time.Time
	journal     journal
}

// Run begins a run. Its warnings go to warnings.
func (f *Flow) Run(o Options, warnings *outcome.Warnings) *Run {
	f.outbox.Begin(o.RunID)
	return &Run{flow: f, options: o, warnings: warnings}
}

// Read reads all records and journals of stock pools. A pool whose record or journal
// can't be read fails alone.
func (r *Run) Read(ctx context.Context) error {
	list, err := r.flow.records().List(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	journals, err := r.flow.journals(ctx)
	if err != nil {
		return err
	}
	for _, l := range list {
		r.keys = append(r.keys, l.Key)
		if !r.options.Names.StockPool(l.Key) {
			continue
		}
		d := l.Record.Declaration.WithDefaults()
		j := journals[d.UID]
		if err := cmp.Or(l.Err, j.Err); err != nil {
			d.Namespace, d.Name, _ = strings.Cut(l.Key, "/")
			r.add(newReport(d, stockpool.Plan{}, outcome.Failed, err), nil)
			continue
		}
		r.flow.outbox.Note(j.Value.Value.Untold...)
		if n := j.Value.Value.LeftOut; n > 0 {
			r.warnings.Add(history.LeftOut(d.Object(), "a journal", n))
		}
		r.targets = append(r.targets, target{declaration: d, phase: l.Record.Phase, updatedAt: l.Record.UpdatedAt, journal: j.Value})
	}
	return nil
}

// Keys are the names of all stock pools that the store has a record of, or that could not
// be brought into it.
func (r *Run) Keys() []string {
	slices.Sort(r.keys)
	return slices.Compact(r.keys)
}

// Recorded says whether the run read a stock pool's record with this uid.
func (r *Run) Recorded(uid string) bool {
	return slices.ContainsFunc(r.targets, func(t target) bool { return t.declaration.UID == uid })
}

// Declared is how many stock pools were read.
func (r *Run) Declared() int { return len(r.targets) }

// Reports are those of the stock pools, by namespace and name.
func (r *Run) Reports() []Report {
	slices.SortFunc(r.reports, func(a, b Report) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return append([]Report{}, r.reports...)
}

// Results are what became of the decisions.
func (r *Run) Results() []outcome.Result { return r.results }

func (r *Run) add(p Report, results []outcome.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, p)
	r.results = append(r.results, results...)
}

// poolsAtOnce is how many stock pools of a run are acted on at the same time.
const poolsAtOnce = 16

// Reconcile brings the stock pools that were read to what is declared.
func (r *Run) Reconcile(ctx context.Context) {
	if len(r.targets) == 0 {
		return
	}
	c, look, err := r.lookAtAll(ctx)
	r.waitUntil = time.Now().Add(r.options.WaitTimeout)
	var group errgroup.Group
	group.SetLimit(poolsAtOnce)
	for _, t := range r.targets {
		group.Go(func() error { r.reconcile(ctx, c, t, look, err); return nil })
	}
	_ = group.Wait()
}

// lookAtAll is one look for all stock pools.
func (r *Run) lookAtAll(ctx context.Context) (c Cluster, l stockpool.Look, err error) {
	if len(r.targets) == 0 {
		return nil, l, nil
	}
	var made map[string]budget.Status
	if r.options.Statuses != nil {
		made = r.options.Statuses()
	}
	if r.limits, err = r.flow.limits(ctx, made); err != nil {
		return nil, l, err
	}
	if c, _, err = r.flow.cluster(ctx); err != nil {
		return nil, l, fmt.Errorf("the cluster can't be reached: %w", err)
	}
	l, err = c.Stock(ctx)
	return c, l, err
}

// passOf is a pass about one pool by the look at all; err is why there was none.
func (r *Run) passOf(t target, l stockpool.Look, err error) (*pass, error) {
	d := t.declaration
	if err == nil {
		err = record.SameCluster(d.Object(), d.ClusterUID, l.ClusterUID)
	}
	if err != nil {
		return nil, err
	}
	return &pass{declaration: d, journal: t.journal, recorded: true, limits: r.limits, seen: l.Of(d)}, nil
}

// reconcile looks after one pool: by the look at all, and where that is not as declared
// by a fresh one, under the pool's lock.
func (r *Run) reconcile(ctx context.Context, c Cluster, t target, l stockpool.Look, err error) {
	d := t.declaration
	p, err := r.passOf(t, l, err)
	if err == nil && t.phase == declaration.Active {
		err = r.flow.judge(ctx, c, p)
	}
	switch {
	case ctx.Err() != nil:
		r.add(newReport(d, stockpool.Plan{}, outcome.Skipped, errInterrupted), nil)
	case err != nil:
		r.add(newReport(d, stockpool.Plan{}, outcome.Failed, err), nil)
	case t.phase == declaration.Deleting:
		r.finishDeletion(ctx, c, t)
	case t.phase == declaration.Creating:
		r.leaveCreation(ctx, t)
	case len(p.plan.Decisions) == 0 && p.plan.Refused == nil && record.Same(t.journal.Value.Told(r.flow.outbox.Has), p.plan.Journal):
		p.plan.Status = r.options.Rooms.told(ctx, d, p.plan.Status)
		r.add(newReport(d, p.plan, becameOf(p.plan), nil), nil)
	default:
		r.actOn(ctx, c, t, p)
	}
}

// leaveCreation leaves an unfinished creation to terraform apply.
func (r *Run) leaveCreation(ctx context.Context, t target) {
	d := t.declaration
	err, became := r.flow.records().Unmade(ctx, d, d.Object(), t.updatedAt), outcome.Skipped
	if !err.Forgotten.IsZero() {
		became = outcome.Failed
	}
	r.add(newReport(d, stockpool.Plan{}, became, err), nil)
}

// becameOf is the outcome of a pool about which nothing is left to do.
func becameOf(p stockpool.Plan) outcome.Outcome {
	if p.Status.Of(stockpool.Stocked).Reason == stockpool.AtMaximum {
		return outcome.Short
	}
	if p.Status.Settled() || p.Status.Phase == stockpool.Progressing {
		return outcome.Done
	}
	return outcome.Short
}

// actOn acts on a pool under its lock.
func (r *Run) actOn(ctx context.Context, c Cluster, t target, p *pass) {
	var results []outcome.Result
	err := r.flow.records().Locked(ctx, t.declaration, func(ctx context.Context) error {
		// The declaration may have changed since it was listed.
		now, err := r.flow.records().Still(ctx, t.declaration, t.phase)
		if err != nil {
			return err
		}
		if now == nil {
			return errGone
		}
		p.declaration = now.Value.Declaration.WithDefaults()
		if p.journal, err = r.flow.loadJournal(ctx, p.declaration); err != nil {
			return err
		}
		results, err = r.flow.act(ctx, c, p)
		return err
	})
	if err == nil && r.options.Wait && slices.ContainsFunc(p.did, stockpool.Decision.Applies) {
		err = r.flow.settle(ctx, c, p, time.Until(r.waitUntil))
	}
	became := becameOf(p.plan)
	switch {
	case record.IsLocked(err), errors.Is(err, errGone):
		became = outcome.Skipped
	case ctx.Err() != nil && err != nil:
		became, err = outcome.Skipped, errInterrupted
	case err != nil:
		became = outcome.Failed
	case outcome.AnyPlanned(results):
		became = outcome.Planned
	}
	p.plan.Status = r.options.Rooms.told(ctx, p.declaration, p.plan.Status)
	r.add(newReport(p.declaration, p.warned(), became, err), results)
}

// finishDeletion goes on with a deletion that was cut short, or whose pods took long to
// end.
func (r *Run) finishDeletion(ctx context.Context, c Cluster, t target) {
	var of clearing
	err := r.flow.records().Locked(ctx, t.declaration, func(ctx context.Context) error {
		condemned, err := r.flow.stillDeleting(ctx, t.declaration)
		if err != nil {
			return err
		}
		if condemned == nil {
			return errGone
		}
		of, err = r.flow.clear(ctx, c, *condemned)
		return err
	})
	became := outcome.Done
	switch {
	case record.IsLocked(err), errors.Is(err, errGone):
		became = outcome.Skipped
	case errors.Is(err, outcome.ErrPlanned):
		became, err = outcome.Planned, outcome.ErrDeletionPlanned
	case err != nil:
		became = outcome.Failed
	case !of.gone:
		became, err = outcome.Skipped, &stillEndingError{t.declaration.Object(), of.ending}
	}
	report := newReport(t.declaration, stockpool.Plan{}, became, err)
	if report.Deleted = of.gone && err == nil; of.notice != "" {
		report.Notices = []string{of.notice}
	}
	r.add(report, nil)
}

var (
	errInterrupted = errors.New("the run was interrupted: the next one goes on with this stock pool")
	errGone        = errors.New("the stock pool was changed or destroyed by someone else while this run looked at it")
)
