package spotpools

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Options say what a run may do with pools.
type Options struct {
	// Names are those of the pools to reconcile; none for all.
	Names declaration.Names
	// Wait waits for launches and terminations, for at most WaitTimeout.
	Wait        bool
	WaitTimeout time.Duration
	// Statuses returns the statuses of the run's budgets, by name. The gates of pools use
	// them, since those in the store may be older. Nil if there are none.
	Statuses func() map[string]budget.Status
	// RunID names the run, in events.
	RunID string
}

// Run reconciles the pools of a store once.
type Run struct {
	*loop.Run[spotpool.Declaration, Report]
	kind *kind
}

type kind struct {
	run      *loop.Run[spotpool.Declaration, Report]
	flow     *Flow
	options  Options
	warnings *outcome.Warnings
	opened   []target                 // the targets, in their order
	statuses map[string]budget.Status // by the name of the budget
	leftOut  reason.Reasons           // warnings of events that did not fit into journals
}

// target is one pool of the run.
type target struct {
	declaration spotpool.Declaration
	phase       declaration.Phase
	updatedAt   time.Time
	journal     document
	holds       spotpool.Holds
	hold        *spotpool.Hold // in force; nil if there is none
}

// decided returns the declaration by which the pool is decided. A pool that is deleted launches nothing, so no price counts.
func (t target) decided() spotpool.Declaration {
	d := t.declaration
	if t.phase == declaration.Deleting {
		d.Currency = ""
	}
	return d
}

func (t target) spot() bool { return t.declaration.InstanceChargeType == spotpool.Spot }

// Run begins a run, which adds its warnings to warnings. It forgets the observation of the
// cluster, which may be of an earlier run of this process.
func (f *Flow) Run(o Options, warnings *outcome.Warnings) *Run {
	f.outbox.Begin(o.RunID)
	f.forgetCluster()
	k := &kind{flow: f, options: o, warnings: warnings}
	k.run = loop.New(k, o.Names.Pool)
	return &Run{Run: k.run, kind: k}
}

// Read reads all records and journals of pools. If one is unreadable, only its pool fails.
func (r *Run) Read(ctx context.Context) error {
	if err := r.Run.Read(ctx); err != nil || len(r.Targets()) == 0 {
		return err
	}
	k := r.kind
	holds, err := record.Holds(k.flow.Repository).All(ctx)
	if err != nil {
		return err
	}
	load := func(d spotpool.Declaration) (document, error) { return k.flow.loadJournal(ctx, d) }
	if len(r.Targets()) > fewJournals {
		if load, err = k.flow.listJournals(ctx); err != nil {
			return err
		}
	}
	r.Open(func(t loop.Target[spotpool.Declaration]) error {
		d := t.Record.Declaration
		j, err := load(d)
		hold := holds[d.UID]
		if err := cmp.Or(err, hold.Err); err != nil {
			return err
		}
		k.flow.outbox.Note(j.Value.Unreported...)
		if n := j.Value.LeftOut; n > 0 {
			k.leftOut = append(k.leftOut, history.LeftOut(d.Object(), "a journal", n))
		}
		k.opened = append(k.opened, target{
			declaration: d, phase: t.Record.Phase, updatedAt: t.Record.UpdatedAt, journal: j, holds: hold.Value.Holds, hold: hold.Value.At(k.flow.now()),
		})
		return nil
	})
	return nil
}

// fewJournals is how many journals are read one by one.
const fewJournals = 10

func unread(t loop.Target[spotpool.Declaration]) bool { return t.Err != nil }

func (k *kind) Records() record.Lifecycle[spotpool.Declaration] { return k.flow.records() }

func (k *kind) Unprocessed(t loop.Target[spotpool.Declaration], e loop.Ending) Report {
	d := t.Record.Declaration
	d.Region, d.Name, _ = splitKey(t.Key)
	return newReport(d, nil, e)
}

// Begin reports events that earlier processes left. Each region is observed on its own.
func (k *kind) Begin(ctx context.Context, _ []loop.Target[spotpool.Declaration]) ([]loop.Work[spotpool.Declaration, Report], loop.Schedule, error) {
	k.reportLeft(ctx)
	k.reportHolds(ctx)
	if k.options.Statuses != nil {
		k.statuses = k.options.Statuses()
	}
	regions := map[string]*region{}
	list, works := make([]loop.Work[spotpool.Declaration, Report], len(k.opened)), make([]*work, len(k.opened))
	for n, t := range k.opened {
		name := t.declaration.Region
		if regions[name] == nil {
			regions[name] = &region{kind: k, name: name}
		}
		in := regions[name]
		w := &work{kind: k, target: t, region: in}
		list[n], works[n], in.works, in.places = w, w, append(in.works, w), append(in.places, n)
	}
	return list, func(ctx context.Context, turns []loop.Turn) {
		var group errgroup.Group
		for _, in := range regions {
			group.Go(func() error { in.reconcile(ctx, turns); return nil })
		}
		_ = group.Wait()
		k.saveStatuses(ctx, works)
	}, nil
}

// reportLeft reports events that earlier processes may not have reported.
func (k *kind) reportLeft(ctx context.Context) {
	added := k.flow.Repository.ReportAfter(ctx, &k.flow.outbox, k.flow.Clock, k.warnings.Warn)
	if added.Events == 0 { // they were reported before, with their warnings
		return
	}
	k.warnings.Warn(k.leftOut...)
}

// region is the part of a run in one region.
type region struct {
	*kind
	name        string
	works       []*work
	places      []int // of the works, among those of the run
	observation *regionObservation
	err         error // why there is no observation
}

// reconcile observes the region once, and then reconciles its pools in parallel.
func (r *region) reconcile(ctx context.Context, turns []loop.Turn) {
	targets := make([]target, len(r.works))
	own := make([]loop.Turn, len(r.works))
	for n, w := range r.works {
		targets[n], own[n] = w.target, turns[r.places[n]]
	}
	if r.observation, r.err = r.flow.observeTargets(ctx, r.name, targets); r.err == nil {
		r.warnings.Warn(append(r.observation.markets.warnings(r.name, slices.ContainsFunc(targets, target.spot)), r.observation.warnings...)...)
	}
	loop.Parallel(ctx, own)
	if r.err == nil && !r.options.Wait {
		r.confirm(ctx)
	}
}
