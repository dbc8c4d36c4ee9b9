package budgets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

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
	flow     *Flow
	options  Options
	warnings *outcome.Warnings
	targets  []target
	names    map[string]bool // of all that the store has a record of
	stated   []string        // the names of those that a state has
	// known are the uids of the budgets that are declared, of any cluster; unread
	// says that some records could not be read. declared are all that could be,
	// whatever the run was asked to judge.
	known    map[string]bool
	unread   bool
	declared []budget.Declaration

	mu       sync.Mutex
	reports  []Report
	results  []outcome.Result
	statuses map[string]budget.Status // that this run made, written or not, by the budget's name
}

// target is one budget that the run judges.
type target struct {
	declaration budget.Declaration
	phase       declaration.Phase
}

// Run begins a run. What is to be warned of goes to warnings.
func (f *Flow) Run(o Options, warnings *outcome.Warnings) *Run {
	f.outbox.Begin(o.RunID)
	return &Run{flow: f, options: o, warnings: warnings, names: map[string]bool{}, known: map[string]bool{}, statuses: map[string]budget.Status{}}
}

// Read reads every budget's record in the store. One that can't be read fails its
// own budget alone.
func (r *Run) Read(ctx context.Context) error {
	list, err := r.flow.records().List(ctx)
	if err != nil {
		return err
	}
	for _, l := range list {
		r.names[l.Key] = true
		chosen := r.options.Names.Budget(l.Key)
		if l.Err != nil {
			r.unread = true
			if chosen {
				r.add(failedReport(budget.Declaration{Name: l.Key}, l.Err), nil)
			}
			continue
		}
		d := l.Record.Declaration.WithDefaults()
		r.known[d.UID] = true
		r.declared = append(r.declared, d)
		if chosen {
			r.targets = append(r.targets, target{declaration: d, phase: l.Record.Phase})
		}
	}
	r.unread = r.unread || len(r.reports) > 0
	return nil
}

// Recorded says whether the run read a budget's record with this uid.
func (r *Run) Recorded(uid string) bool { return r.known[uid] }

// Names are those of all budgets that the store has a record of, or that could not
// be brought into it.
func (r *Run) Names() []string {
	names := slices.AppendSeq(slices.Clone(r.stated), maps.Keys(r.names))
	slices.Sort(names)
	return slices.Compact(names)
}

// partial says that the run judges some budgets and leaves the others as they are.
func (r *Run) partial() bool { return len(r.options.Names) > 0 }

// Statuses are those that this run made, written or not, by the name of the budget.
func (r *Run) Statuses() map[string]budget.Status { return r.statuses }

// Reports are those of the budgets, by name.
func (r *Run) Reports() []Report {
	slices.SortFunc(r.reports, func(a, b Report) int { return strings.Compare(a.Name, b.Name) })
	return append([]Report{}, r.reports...)
}

// Results are what became of the decisions.
func (r *Run) Results() []outcome.Result { return r.results }

func (r *Run) add(b Report, results []outcome.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, b)
	r.results = append(r.results, results...)
}

// Reconcile judges and enforces every budget of the cluster at hand. What stops all
// of them, such as a cluster that does not answer, fails them and leaves the other
// kinds to go on: by their statuses' age, the gates of pools close.
func (r *Run) Reconcile(ctx context.Context) {
	if len(r.targets) == 0 {
		if !r.partial() {
			r.liftLeftovers(ctx)
		}
		return
	}
	if deadline, limited := ctx.Deadline(); limited && r.options.Others != nil && r.options.Others() {
		half, cancel := context.WithTimeoutCause(ctx, time.Until(deadline)/2, errSlowCluster)
		defer cancel()
		ctx = half
	}
	cluster, uid, err := r.flow.cluster(ctx)
	if err != nil {
		r.failBudgets(ctx, r.targets, fmt.Errorf("the cluster can't be reached: %w", err))
		return
	}
	if targets := r.ours(ctx, cluster, uid); len(targets) > 0 {
		if err := r.judgeAndEnforce(ctx, cluster, uid, targets); err != nil {
			r.failBudgets(ctx, targets, err)
		}
	}
}

// ours are the budgets of a cluster that are to be judged. Those of others fail, and
// deletions are gone on with.
func (r *Run) ours(ctx context.Context, c Cluster, uid string) []target {
	var ours []target
	for _, t := range r.targets {
		switch d := t.declaration; {
		case d.ClusterUID != uid:
			r.add(failedReport(d, record.SameCluster(d.Object(), d.ClusterUID, uid)), nil)
		case t.phase == declaration.Deleting:
			r.finishDeletion(ctx, c, d)
		default:
			ours = append(ours, t)
		}
	}
	return ours
}

// judgeAndEnforce brings the ledger up to date, and only then judges and enforces
// budgets. An error stops all of them.
func (r *Run) judgeAndEnforce(ctx context.Context, c Cluster, uid string, targets []target) error {
	b, previous, err := r.account(ctx, c, uid, targets)
	if err != nil {
		return err
	}
	granted, err := r.flow.grants(ctx)
	if err != nil {
		return err
	}
	r.tellGrants(ctx, targets, granted, b.now())
	inForce := r.lookInForce(ctx, c, uid, b.observation.Namespaces)
	if !r.partial() {
		r.liftOrphans(ctx, c, uid, inForce)
		r.forgetStatuses(ctx, previous)
	}
	judged := r.judge(targets, b, previous, granted, inForce)
	r.announceAccepted(judged)
	e := &enforcer{flow: r.flow, books: b, inForce: inForce, report: r.add, warnings: r.warnings, declared: r.counted(uid, targets)}
	if r.partial() {
		e.bystanders = r.bystanders(uid, targets, b, previous, granted, inForce)
	}
	e.enforce(ctx, judged)
	r.noteDeletions(ctx, b)
	return nil
}

// account has the ledger know of all that a look at the cluster shows: written,
// before anything follows from it. With it come the budgets' last statuses.
func (r *Run) account(ctx context.Context, c Cluster, uid string, targets []target) (*books, map[string]previousStatus, error) {
	counted := r.counted(uid, targets)
	r.flow.Teller.Tell("cluster", "looking at the pods and nodes of the cluster", nil)
	r.flow.Teller.Logger().InfoContext(ctx, "looking at the cluster", "cluster", uid)
	b, err := r.flow.account(ctx, c, uid, counted)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range b.warnings {
		r.warnings.Add(text)
	}
	previous, err := r.previousStatuses(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.tellLeft(ctx, previous)
	if !r.partial() {
		b.prune(counted, previous, r.options.KeepLedger)
	}
	b.noticeLoss(counted, previous)
	r.acceptLoss(b)
	r.tellLoss(b)
	if err := r.flow.saveLedger(ctx, b.documents); err != nil {
		return nil, nil, fmt.Errorf("nothing is enforced, since the ledger could not be written: %w", err)
	}
	return b, previous, nil
}

// counted are the budgets that the ledger is kept for: those that are judged and,
// where these are not all, the cluster's others too. What a pod holds is written
// down once, by what any budget weighs, and for all of them; so are the labels of what
// is paused.
func (r *Run) counted(clusterUID string, judged []target) []budget.Declaration {
	if !r.partial() {
		return declarations(judged)
	}
	return slices.DeleteFunc(slices.Clone(r.declared), func(d budget.Declaration) bool { return d.ClusterUID != clusterUID })
}

func declarations(targets []target) []budget.Declaration {
	list := make([]budget.Declaration, len(targets))
	for n, t := range targets {
		list[n] = t.declaration
	}
	return list
}

// failBudgets reports every budget that has no report yet as failed.
func (r *Run) failBudgets(ctx context.Context, targets []target, err error) {
	became := outcome.Failed
	if ctx.Err() != nil {
		err = whyStopped(ctx)
		became = outcomeOf(err)
	}
	for _, t := range targets {
		if !slices.ContainsFunc(r.reports, func(b Report) bool { return b.Name == t.declaration.Name }) {
			r.add(unjudgedReport(t.declaration, became, err), nil)
		}
	}
}

// errSlowCluster says that budgets left the pools no more of the run's time.
var errSlowCluster = errors.New("the cluster took half of the run's time: the rest is the pools', and the next run goes on with the budgets")

var errInterruptedBudget = errors.New("the run was interrupted: the next one goes on with this budget")

// whyStopped says why nothing more is begun once the time is over.
func whyStopped(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errSlowCluster) {
		return errSlowCluster
	}
	return errInterruptedBudget
}

// outcomeOf is that of a budget which the time was over for.
func outcomeOf(why error) outcome.Outcome {
	if errors.Is(why, errSlowCluster) {
		return outcome.Failed
	}
	return outcome.Skipped
}

var errBudgetChanged = errors.New("the budget was changed or destroyed by someone else while this run looked at it: the next run judges it")
