package stockpools

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Options are the options of a run.
type Options struct {
	RunID string
	// Names limit the run to these pools; empty means all.
	Names declaration.Names
	// Wait makes the run wait for the pods of what it changed, up to WaitTimeout.
	Wait        bool
	WaitTimeout time.Duration
	// Statuses returns the statuses that the run made of budgets, by name. Nil if it made none.
	Statuses func() map[string]budget.Status
}

// Run is one run over the stock pools of a store.
type Run struct {
	*loop.Run[stockpool.Declaration, Report]
	kind *kind
}

type kind struct {
	flow      *Flow
	options   Options
	warnings  *outcome.Warnings
	journals  map[string]journal // by UID
	limits    *limits
	waitUntil time.Time
	rooms     once[[]stockpool.Room]
}

// once caches what the first pool that needs it reads for all.
type once[T any] struct {
	sync.Once
	value T
	err   error
}

func (o *once[T]) get(read func() (T, error)) (T, error) {
	o.Do(func() { o.value, o.err = read() })
	return o.value, o.err
}

type target = loop.Target[stockpool.Declaration]

// Run starts the part of a run that is about stock pools.
func (f *Flow) Run(o Options, warnings *outcome.Warnings) *Run {
	f.outbox.Begin(o.RunID)
	k := &kind{flow: f, options: o, warnings: warnings, journals: map[string]journal{}}
	return &Run{Run: loop.New(k, o.Names.StockPool), kind: k}
}

// Read reads all records and journals of stock pools. A pool with an unreadable record or
// journal fails only itself.
func (r *Run) Read(ctx context.Context) error {
	if err := r.Run.Read(ctx); err != nil || len(r.Targets()) == 0 {
		return err
	}
	k := r.kind
	journals, err := k.flow.listJournals(ctx)
	if err != nil {
		return err
	}
	r.Open(func(t target) error {
		d := t.Record.Declaration
		j := journals[d.UID]
		if j.Err != nil {
			return j.Err
		}
		k.journals[d.UID] = j.Value
		k.flow.outbox.Note(j.Value.Value.Unreported...)
		if n := j.Value.Value.LeftOut; n > 0 {
			k.warnings.Warn(history.LeftOut(d.Object(), "a journal", n))
		}
		return nil
	})
	return nil
}

func (k *kind) Records() record.Lifecycle[stockpool.Declaration] { return k.flow.records() }

func (k *kind) Begin(ctx context.Context, targets []target) ([]loop.Work[stockpool.Declaration, Report], loop.Schedule, error) {
	c, all, err := k.observeAll(ctx)
	k.waitUntil = time.Now().Add(k.options.WaitTimeout)
	list := make([]loop.Work[stockpool.Declaration, Report], len(targets))
	for n, t := range targets {
		list[n] = &work{kind: k, connection: c, target: t, observations: all}
	}
	return list, loop.Parallel, err
}

func (k *kind) Unprocessed(t target, e loop.Ending) Report {
	d := t.Record.Declaration
	d.Namespace, d.Name, _ = strings.Cut(t.Key, "/")
	return newReport(d, decide.Plan{}, e)
}

func (k *kind) observeAll(ctx context.Context) (c connection, all stockpool.Observations, err error) {
	var made map[string]budget.Status
	if k.options.Statuses != nil {
		made = k.options.Statuses()
	}
	if k.limits, err = k.flow.readLimits(ctx, made); err != nil {
		return c, all, err
	}
	if c, _, err = k.flow.connect(ctx); err != nil {
		return c, all, &reason.Error{Reason: reason.ClusterUnreachable(reason.Explain(err)), Err: err}
	}
	all, err = c.cluster.Stock(ctx)
	return c, all, err
}

func (k *kind) passOf(c connection, t target, all stockpool.Observations) (*pass, error) {
	d := t.Record.Declaration.WithDefaults()
	if err := record.SameCluster(d.Object(), d.ClusterUID, all.ClusterUID); err != nil {
		return nil, err
	}
	return &pass{
		connection: c, declaration: d, journal: k.journals[d.UID], recorded: true, limits: k.limits, rooms: &k.rooms, observation: all.Of(d),
	}, nil
}

// work is the work of a run on one pool. It begins with the observation of all pools; if the
// pool is not in sync, it observes it again under the pool's lock.
type work struct {
	*kind
	connection   connection
	target       target
	observations stockpool.Observations

	pass     *pass // nil before Observe, and if the pool is not active
	acted    bool
	results  []outcome.Result
	clearing clearing
}

// Observe decides from the observation of all pools, and waits for the pods of what Act
// changed.
func (w *work) Observe(ctx context.Context) (loop.Next, error) {
	if w.acted {
		return loop.Done, w.pass.settle(ctx, time.Until(w.waitUntil))
	}
	p, err := w.passOf(w.connection, w.target, w.observations)
	if err != nil {
		return 0, err
	}
	switch r := w.target.Record; r.Phase {
	case declaration.Deleting:
		return loop.Act, nil
	case declaration.Creating: // terraform apply resumes it
		unfinished := w.Records().UnfinishedCreation(ctx, r.Declaration, r.Declaration.Object(), r.UpdatedAt)
		if unfinished.Forgotten.IsZero() {
			return 0, loop.Skip(unfinished)
		}
		return 0, unfinished
	}
	if p.declaration.Expired(p.now()) {
		return loop.Act, nil
	}
	if err := p.judge(ctx); err != nil {
		return 0, err
	}
	if w.pass = p; p.idle() {
		return loop.Done, nil
	}
	return loop.Act, nil
}

// Act acts on a pool, or resumes a deletion.
func (w *work) Act(ctx context.Context, now stored) (next loop.Next, err error) {
	if expired := now.Value.Declaration.Expired(w.connection.now()); expired || now.Value.Phase == declaration.Deleting {
		if now, err = w.Records().BeginDeletion(ctx, now); err != nil {
			return loop.Done, err
		}
		if w.clearing, err = w.connection.clear(ctx, now); err == nil && !w.clearing.gone {
			err = loop.Skip(&terminatingError{now.Value.Declaration.Object(), w.clearing.ending})
		}
		return loop.Done, err
	}
	p := w.pass
	p.declaration = now.Value.Declaration.WithDefaults()
	if p.journal, err = p.loadJournal(ctx, p.declaration); err != nil {
		return 0, err
	}
	w.results, err = p.act(ctx)
	if w.acted = w.options.Wait && slices.ContainsFunc(p.did, stockpool.Decision.Applies); w.acted {
		return loop.Observe, err
	}
	return loop.Done, err
}

// Report adds which spot pool could grow for the pool's pending pods.
func (w *work) Report(ctx context.Context, e loop.Ending) (Report, []outcome.Result) {
	p := w.pass
	if p == nil {
		report := newReport(w.target.Record.Declaration.WithDefaults(), decide.Plan{}, e)
		report.Deleted, report.Notices = w.clearing.gone && e.Became == outcome.Done, w.clearing.notices
		return report, nil
	}
	if e.Became == outcome.Done {
		if e.Became = planOutcome(p.plan); outcome.AnyPlanned(w.results) {
			e.Became = outcome.Planned
		}
	}
	p.findRooms(ctx)
	return newReport(p.declaration, p.warned(), e), w.results
}

func planOutcome(p decide.Plan) outcome.Outcome {
	if p.Status.Of(decide.Stocked).Reason == decide.AtMaximum {
		return outcome.Short
	}
	if p.Status.Settled() || p.Status.Phase == decide.Progressing || p.Status.Phase == decide.Pausing {
		return outcome.Done
	}
	return outcome.Short
}
