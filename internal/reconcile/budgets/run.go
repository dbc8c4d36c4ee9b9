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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// DefaultKeepLedger is for how long what ended is kept also where no window
// reaches back to it: so that one that is made longer, up to a month, or a budget
// that takes the place of another, counts what was used before.
const DefaultKeepLedger = 35 * 24 * time.Hour

// Options say what a run may do with budgets.
type Options struct {
	// RunID names the run, in statuses.
	RunID string
	// Names are of the budgets that are judged; none for all. What is the whole
	// store's (retention of the ledger, statuses and measures of what was destroyed) is
	// then left to a run of all.
	Names declaration.Names
	// KeepLedger is for how long the ledger keeps what ended, also where no window
	// reaches back to it. Zero means DefaultKeepLedger.
	KeepLedger time.Duration
	// AcceptLoss is the reason for which a person goes on without all that is lost
	// of the ledger by now; empty where nobody does.
	AcceptLoss string
	// Others says, once all kinds are read, whether some of the run's time is theirs;
	// nil where no other kind follows.
	Others func() bool
}

// Run is what one run does with the budgets of a store.
type Run struct {
	*loop.Run[budget.Declaration, Report]
	kind *kind
}

// kind is what a run knows of budgets.
type kind struct {
	run      *loop.Run[budget.Declaration, Report]
	flow     *Flow
	options  Options
	warnings *outcome.Warnings
	unread   bool                     // some records could not be read, or taken over
	statuses map[string]budget.Status // that this run made, written or not, by the budget's name
	measured measured
	// leftovers are the warnings of what an older gpupool can have left in the cluster.
	leftovers []string
}

// target is one budget that the run judges.
type target = loop.Target[budget.Declaration]

// Run begins a run. What is to be warned of goes to warnings.
func (f *Flow) Run(o Options, warnings *outcome.Warnings) *Run {
	f.outbox.Begin(o.RunID)
	k := &kind{flow: f, options: o, warnings: warnings, statuses: map[string]budget.Status{}}
	k.run = loop.New(k, o.Names.Budget)
	return &Run{Run: k.run, kind: k}
}

// Read reads every budget's record in the store. One that can't be read fails its
// own budget alone.
func (r *Run) Read(ctx context.Context) error {
	err := r.Run.Read(ctx)
	r.kind.unread = len(r.Reports()) > 0 || slices.ContainsFunc(r.Listed(), func(t target) bool { return t.Err != nil })
	return err
}

// Statuses are those that this run made, written or not, by the name of the budget.
func (r *Run) Statuses() map[string]budget.Status { return r.kind.statuses }

// Leftovers are the warnings of what an older gpupool can have left in the cluster.
func (r *Run) Leftovers() []string { return r.kind.leftovers }

// Reports are how the budgets ended, by name. One whose status could not be written failed.
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

// Reconcile judges and enforces every budget of the cluster at hand. What stops all
// of them, such as a cluster that does not answer, fails them and leaves the other
// kinds to go on: by their statuses' age, the gates of pools close.
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

func (k *kind) Records() record.Life[budget.Declaration] { return k.flow.records() }

func (k *kind) Unworked(t target, e loop.Ending) Report {
	d := t.Record.Declaration
	if d.Name = t.Key; t.Err == nil {
		d = d.WithDefaults()
	}
	return unjudgedReport(d, stopped(e))
}

// Begin finishes deletions, brings the ledger up to date, and only then judges the budgets
// of the cluster at hand. Those of others fail.
func (k *kind) Begin(ctx context.Context, targets []target) ([]loop.Work[budget.Declaration, Report], loop.Schedule, error) {
	c, uid, err := k.flow.cluster(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("the cluster can't be reached: %w", err)
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
	e, err := k.judgeAll(ctx, c, uid, ours, works)
	if err != nil {
		if ctx.Err() != nil { // whatever could not begin, it is for that
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
		k.noteDeletions(ctx, e.books, own)
	}, nil
}

// judgeAll brings the ledger up to date, and only then judges budgets. An error stops
// all of them.
func (k *kind) judgeAll(ctx context.Context, c Cluster, uid string, list []budget.Declaration, works map[string]*work) (*enforcer, error) {
	b, previous, err := k.account(ctx, c, uid, list)
	if err != nil {
		return nil, err
	}
	granted, err := readGrants(ctx, k.flow.Keeper)
	if err != nil {
		return nil, err
	}
	k.reportGrants(ctx, list, granted, b.Now())
	inForce := k.observeInForce(ctx, c, uid, b.Observation.Namespaces)
	if !k.partial() {
		k.liftOrphans(ctx, c, uid, inForce)
		k.reportUnrecognized(ctx, c, k.unread || slices.ContainsFunc(list, mayPause))
		k.forgetStatuses(ctx, previous)
	}
	e := &enforcer{kind: k, cluster: c, books: b, inForce: inForce, declared: k.counted(uid, list)}
	if e.judge(list, previous, granted, works); k.partial() {
		e.bystanders = k.bystanders(uid, list, b, previous, granted, inForce)
	}
	return e, nil
}

// partial says that the run judges some budgets and leaves the others as they are.
func (k *kind) partial() bool { return len(k.options.Names) > 0 }

// account has the ledger know of all that an observation of the cluster shows: written,
// before anything follows from it. With it come the budgets' last statuses.
func (k *kind) account(ctx context.Context, c Cluster, uid string, judged []budget.Declaration) (*accounting.Books, map[string]previousStatus, error) {
	counted := k.counted(uid, judged)
	k.flow.Teller.Tell("cluster", "looking at the pods and nodes of the cluster", nil)
	k.flow.Teller.Logger().InfoContext(ctx, "looking at the cluster", "cluster", uid)
	b, err := k.flow.accountant().Account(ctx, c, uid, counted)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range b.Warnings {
		k.warnings.Add(text)
	}
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

// counted are the budgets that the ledger is kept for: those that are judged and,
// where these are not all, the cluster's others too. What a pod holds is written
// down once, by what any budget weighs, and for all of them; so are the labels of what
// is paused.
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

// errSlowCluster says that budgets left the pools no more of the run's time.
var errSlowCluster = errors.New("the cluster took half of the run's time: the rest is the pools', and the next run goes on with the budgets")

// stopped is how a budget ends where the time was over for it: a cluster that took too
// much of it is a failure.
func stopped(e loop.Ending) loop.Ending {
	if errors.Is(e.Why, errSlowCluster) {
		return loop.Ending{Became: outcome.Failed, Why: errSlowCluster}
	}
	return e
}

// stoppedBy is how a budget ends for which no more is begun, since the context is over.
func stoppedBy(ctx context.Context) loop.Ending {
	return stopped(loop.Ending{Became: outcome.Skipped, Why: &loop.InterruptedError{Noun: "budget", Cause: context.Cause(ctx)}})
}
