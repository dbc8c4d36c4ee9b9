package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// DefaultKeepLedger is how long the ledger keeps ended intervals that no window needs. A window can
// then be extended to a month, or a budget replaced, without losing earlier usage.
const DefaultKeepLedger = 35 * 24 * time.Hour

// Options say what a run may do with budgets.
type Options struct {
	// RunID names the run, in statuses.
	RunID string
	// Names are the budgets to judge; none means all. Work on the whole store (retention of the
	// ledger, leftovers of destroyed budgets) is left to a run of all budgets.
	Names declaration.Names
	// KeepLedger is how long the ledger keeps ended intervals that no window needs. Zero means
	// DefaultKeepLedger.
	KeepLedger time.Duration
	// AcceptLoss is an operator's reason to continue without the lost part of the ledger; empty
	// if there is none.
	AcceptLoss string
	// Others reports, once all kinds are read, whether they need a part of the run's time; nil if no
	// other kind follows.
	Others func() bool
}

// Run is one run of the budgets of a store.
type Run struct {
	*loop.Run[budget.Declaration, Report]
	kind *kind
}

// kind is the state of a run of budgets.
type kind struct {
	run      *loop.Run[budget.Declaration, Report]
	flow     *Flow
	options  Options
	warnings *outcome.Warnings
	unread   bool                     // some records could not be read or taken over
	statuses map[string]budget.Status // that this run made, written or not, by the budget's name
	measured measured
	granted  grants // nil if they could not be read
	// leftovers are warnings of objects that an older gpupool may have left in the cluster.
	leftovers reason.Reasons
}

// target is one budget that the run judges.
type target = loop.Target[budget.Declaration]

// Run starts a run, which adds to warnings.
func (f *Flow) Run(o Options, warnings *outcome.Warnings) *Run {
	f.outbox.Begin(o.RunID)
	k := &kind{flow: f, options: o, warnings: warnings, statuses: map[string]budget.Status{}}
	k.run = loop.New(k, o.Names.Budget)
	return &Run{Run: k.run, kind: k}
}

// Read reads every budget's record in the store. One that cannot be read fails its own budget only.
func (r *Run) Read(ctx context.Context) error {
	err := r.Run.Read(ctx)
	r.kind.unread = len(r.Reports()) > 0 || slices.ContainsFunc(r.Listed(), func(t target) bool { return t.Err != nil })
	return err
}

// Statuses returns the statuses of this run, written or not, by the name of the budget.
func (r *Run) Statuses() map[string]budget.Status { return r.kind.statuses }

// Leftovers returns warnings of objects that an older gpupool may have left in the cluster.
func (r *Run) Leftovers() []string { return r.kind.leftovers.Texts() }

// Reports returns the reports by name. A budget whose status could not be written failed.
func (r *Run) Reports() []Report {
	reports := r.Run.Reports()
	for n, report := range reports {
		if err := r.kind.measured.unsaved[report.Name]; err != nil {
			reports[n].Outcome = outcome.Failed
			reports[n].Error = cmp.Or(report.Error, outcome.NewErrorReport(err))
		}
	}
	return reports
}

// Reconcile judges and enforces every budget of the cluster. An error that stops all of them, such as an
// unreachable cluster, does not stop the other kinds. The gates of pools close when statuses are too old.
func (r *Run) Reconcile(ctx context.Context) {
	k := r.kind
	if len(r.Targets()) == 0 && !k.partial() {
		k.liftLeftovers(ctx)
	}
	if deadline, limited := ctx.Deadline(); limited && k.options.Others != nil && k.options.Others() {
		half, cancel := context.WithTimeoutCause(ctx, time.Until(deadline)/2, errSlowCluster)
		defer cancel()
		ctx = half
	}
	r.Run.Reconcile(ctx)
}

func (k *kind) Records() record.Lifecycle[budget.Declaration] { return k.flow.records() }

func (k *kind) Unprocessed(t target, e loop.Ending) Report {
	d := t.Record.Declaration
	if d.Name = t.Key; t.Err == nil {
		d = d.WithDefaults()
	}
	return k.unjudged(d, stopped(e))
}

// unjudged reports a budget that this run did not judge.
func (k *kind) unjudged(d budget.Declaration, e loop.Ending) Report {
	return unjudgedReport(d, k.granted.limit(d, k.flow.now()), e)
}

// Begin finishes deletions, updates the ledger, and only then judges the budgets of the cluster. Those
// of other clusters fail.
func (k *kind) Begin(ctx context.Context, targets []target) ([]loop.Work[budget.Declaration, Report], loop.Schedule, error) {
	var unread error
	k.granted, unread = readGrants(ctx, k.flow.Repository)
	c, uid, err := k.flow.cluster(ctx)
	if err != nil {
		return nil, nil, &reason.Error{Reason: reason.ClusterUnreachable(reason.Explain(err)), Err: err}
	}
	list, own := make([]loop.Work[budget.Declaration, Report], len(targets)), make([]*work, len(targets))
	works := map[string]*work{}
	var ours []budget.Declaration
	for n, t := range targets {
		d := t.Record.Declaration.WithDefaults()
		w := &work{kind: k, declaration: d}
		list[n], own[n], works[d.Name] = w, w, w
		switch {
		case d.ClusterUID != uid:
			w.err = record.SameCluster(d.Object(), d.ClusterUID, uid)
		case t.Record.Phase == declaration.Deleting:
			w.finishDeletion(ctx, c)
		default:
			ours = append(ours, d)
		}
	}
	if len(ours) == 0 {
		return list, loop.Parallel, nil
	}
	var e *enforcer
	if err = unread; err == nil {
		e, err = k.judgeAll(ctx, c, uid, ours, works)
	}
	if err != nil {
		if ctx.Err() != nil { // the cause of all other errors
			err = context.Cause(ctx)
		}
		for _, d := range ours {
			works[d.Name].err = err
		}
		return list, loop.Parallel, nil
	}
	return list, func(ctx context.Context, turns []loop.Turn) {
		e.takeTurns(ctx, own, turns)
		k.saveMeasured(ctx)
		k.recordDeletions(ctx, e.books, own)
	}, nil
}

// judgeAll updates the ledger, and only then judges budgets. An error stops all of them.
func (k *kind) judgeAll(ctx context.Context, c Cluster, uid string, list []budget.Declaration, works map[string]*work) (*enforcer, error) {
	b, previous, err := k.account(ctx, c, uid, list)
	if err != nil {
		return nil, err
	}
	k.reportGrants(ctx, list, k.granted, b.Now())
	inForce := k.observeInForce(ctx, c, uid, b.Observation.Namespaces)
	if slices.ContainsFunc(list, func(d budget.Declaration) bool { return freezes(d.Enforce) }) {
		inForce.policy = c.FreezePolicy(ctx)
	}
	inForce.observeLost(ctx, c, uid, previous)
	if !k.partial() {
		k.liftOrphans(ctx, c, uid, inForce)
		k.reportUnrecognized(ctx, c, k.unread || slices.ContainsFunc(list, mayPause))
		k.forgetStatuses(ctx, previous)
	}
	e := &enforcer{kind: k, cluster: c, books: b, inForce: inForce, declared: k.counted(uid, list), pausing: podPauses{}}
	if e.judge(list, previous, k.granted, works); k.partial() {
		e.bystanders = k.bystanders(uid, list, b, previous, k.granted, inForce)
	}
	return e, nil
}

// partial reports whether the run judges only some budgets.
func (k *kind) partial() bool { return len(k.options.Names) > 0 }

// account records an observation of the cluster in the ledger, before anything follows from it. It
// also returns the budgets' last statuses.
func (k *kind) account(ctx context.Context, c Cluster, uid string, judged []budget.Declaration) (*accounting.Books, map[string]previousStatus, error) {
	counted := k.counted(uid, judged)
	k.flow.Reporter.Report("cluster", "observing the pods and nodes of the cluster", nil)
	k.flow.Reporter.Logger().InfoContext(ctx, "observing the cluster", "cluster", uid)
	b, err := k.flow.accountant().Account(ctx, c, uid, counted)
	if err != nil {
		return nil, nil, err
	}
	k.warnings.Warn(b.WarningsBesides(judged)...)
	previous, err := k.previousStatuses(ctx)
	if err != nil {
		return nil, nil, err
	}
	k.reportLeft(ctx, previous)
	statuses := map[string]budget.Status{}
	for name, s := range previous {
		statuses[name] = s.document.Value
	}
	if !k.partial() {
		b.Prune(counted, statuses, cmp.Or(k.options.KeepLedger, DefaultKeepLedger))
	}
	b.NoticeLoss(counted, statuses)
	k.acceptLoss(b)
	k.reportLoss(b)
	if err := k.flow.accountant().Save(ctx, b); err != nil {
		return nil, nil, fmt.Errorf("nothing is enforced, since the ledger could not be written: %w", err)
	}
	return b, previous, nil
}

// counted returns the budgets that the ledger is kept for: all of the cluster's, even if the run judges
// only some. A pod's allocation is recorded once, by the weights of all of them.
func (k *kind) counted(clusterUID string, judged []budget.Declaration) []budget.Declaration {
	if !k.partial() {
		return judged
	}
	var list []budget.Declaration
	for _, t := range k.run.Listed() {
		if d := t.Record.Declaration; t.Err == nil && d.ClusterUID == clusterUID {
			list = append(list, d.WithDefaults())
		}
	}
	return list
}

var errSlowCluster = errors.New("the cluster took half of the run's time: the rest is for pools, and the next run continues with the budgets")

// stopped returns how a budget ends when its time is over: a slow cluster is a failure.
func stopped(e loop.Ending) loop.Ending {
	if errors.Is(e.Why, errSlowCluster) {
		return loop.Ending{Became: outcome.Failed, Why: errSlowCluster}
	}
	return e
}

// stopEnding returns how a budget ends whose context is over.
func stopEnding(ctx context.Context) loop.Ending {
	return stopped(loop.Ending{Became: outcome.Skipped, Why: &loop.InterruptedError{Noun: "budget", Cause: context.Cause(ctx)}})
}
