package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// judge brings the ledger up to date, and only then judges and enforces budgets.
// An error stops all of them.
func (r *Run) judge(ctx context.Context, c Cluster, uid string, targets []target) error {
	declarations := make([]budget.Declaration, len(targets))
	for n, t := range targets {
		declarations[n] = t.declaration
	}
	r.flow.Teller.Tell("cluster", "looking at the pods and nodes of the cluster", nil)
	b, err := r.flow.account(ctx, c, uid, declarations)
	if err != nil {
		return err
	}
	for _, text := range b.warnings {
		r.warnings.Add(text)
	}
	previous, err := r.previousStatuses(ctx)
	if err != nil {
		return err
	}
	b.prune(declarations, previous, r.options.KeepLedger)
	b.noticeLoss(targets, previous)
	r.acceptLoss(b)
	if err := r.saveLedger(ctx, b); err != nil {
		return fmt.Errorf("nothing is enforced, since the ledger could not be written: %w", err)
	}
	results := budget.Evaluate(declarations, b.ledger.All(), b.ledger.Header, b.now())
	force := r.lookForMeasures(ctx, c, uid)
	j := &judging{Run: r, books: b, previous: previous, inForce: force, pausedSets: b.pausedSets(force.paused)}
	j.liftOrphans(ctx, c, uid, j.inForce)
	j.forgetStatuses(ctx)
	j.judgeAll(ctx, targets, results)
	j.noteDeletions(ctx)
	return nil
}

// budgetsAtOnce is how many statuses are written at the same time.
const budgetsAtOnce = 16

// judgeAll records the budgets of which nothing follows, many at once, and then
// enforces the others by turns: two may have the same pods.
func (j *judging) judgeAll(ctx context.Context, targets []target, results []budget.Result) {
	var calm errgroup.Group
	calm.SetLimit(budgetsAtOnce)
	for n, t := range targets {
		if err := cmp.Or(results[n].Err, j.previous[t.declaration.Name].err); err != nil {
			j.add(failedReport(t.declaration, err), nil)
			continue
		}
		s := j.situation(t.declaration, results[n])
		plan := budget.Decide(s)
		j.keep(plan.Status)
		if err := j.unlisted(s); err != nil {
			j.unacted(ctx, s, outcome.Failed, err)
			continue
		}
		if len(plan.Decisions) > 0 || plan.EnsureFreeze || wantsPods(s) {
			j.busy = append(j.busy, s)
			continue
		}
		calm.Go(func() error { j.record(ctx, s, plan, &enforcer{}); return nil })
	}
	_ = calm.Wait()
	slices.SortStableFunc(j.busy, func(a, b budget.Situation) int { return cmp.Compare(rank(a), rank(b)) })
	j.enforceAll(ctx)
}

// rank is when a budget's turn comes among others'. What is exceeded takes hold
// before anything is let go that it holds as well. Of these, what leaves alone what
// someone started again comes after what pauses it again.
func rank(s budget.Situation) int {
	switch {
	case !wantsPods(s):
		return 2
	case s.Declaration.Enforce.Action == budget.Pause && s.Declaration.Enforce.Repause:
		return 0
	}
	return 1
}

// judging is what budgets are judged by in one run.
type judging struct {
	*Run
	books *books
	inForce
	previous   map[string]previousStatus // by the name of the budget
	pausedSets []budget.Paused           // the workloads of inForce
	changed    bool                      // the latter, since pausedSets was made of them
	busy       []budget.Situation        // what is, or may have to be, acted on
}

// forgetStatuses removes what a run wrote of a budget that was destroyed
// meanwhile.
func (j *judging) forgetStatuses(ctx context.Context) {
	for _, name := range slices.Sorted(maps.Keys(j.previous)) {
		if j.names[name] {
			continue
		}
		if err := record.Remove(ctx, j.flow.Keeper.Store, store.Statuses, record.BudgetStatusName(name), j.previous[name].Revision); err != nil {
			j.warnings.Add(err.Error())
		}
	}
}

func (j *judging) situation(d budget.Declaration, result budget.Result) budget.Situation {
	freeze, frozen := j.frozen[d.UID]
	s := budget.Situation{
		Declaration: d, Result: result, Now: j.books.now(), RunID: j.options.RunID,
		Frozen: frozen, FreezeOutdated: frozen && !freeze.Selector.Same(d.Selector), Paused: j.pausedSets,
		PriorityClasses: j.books.observation.PriorityClasses, StoreNamespace: j.flow.Keeper.Store.Location().Namespace,
	}
	if previous := j.previous[d.Name]; previous.Exists() && previous.Value.UID == d.UID {
		s.Previous = &previous.Value
	}
	return s
}

// wantsPods says whether the pods of now decide what is done.
func wantsPods(s budget.Situation) bool {
	action := s.Declaration.Enforce.Action
	return s.Result.Usage.Exceeded() && action != budget.AlertOnly
}

// unacted writes the status of a budget that was judged and could not be acted
// on, and reports why: the gates of its pools go by it.
func (j *judging) unacted(ctx context.Context, s budget.Situation, became outcome.Outcome, why error) {
	status := budget.Decide(s).Settle(nil)
	if j.inForce.err != nil && s.Previous != nil {
		status.Enforced = s.Previous.Enforced
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if err := j.flow.saveStatus(recording, j.previous[s.Declaration.Name].budgetStatus, status); err != nil {
		became, why = outcome.Failed, errors.Join(why, err)
	}
	j.add(newReport(s.Declaration, status, became, why), nil)
}

// keep keeps the judgement of a budget for the gates of this run, whatever
// becomes of acting on it.
func (j *judging) keep(s budget.Status) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.statuses[s.Name] = s
}

// decided is a plan by the pods of now.
type decided struct {
	budget.Plan
	// trouble says what of the pods can't be told, and why: what follows from that
	// is not done, and the rest is.
	trouble error
}

// decide is budget.Decide with the pods of now, where they matter.
func (j *judging) decide(ctx context.Context, s budget.Situation) (decided, error) {
	var d decided
	if wantsPods(s) {
		pods, err := j.books.live(ctx, s.Declaration)
		switch {
		case err == nil:
			s.Pods = pods
			d.trouble = j.findOwners(ctx, s)
		case s.Declaration.Enforce.Action == budget.Freeze: // who waits is told, no more
			d.trouble = err
		default:
			return d, err
		}
	}
	d.Plan = budget.Decide(s)
	return d, nil
}

// findOwners looks up whose the pods are, where it decides what becomes of them.
func (j *judging) findOwners(ctx context.Context, s budget.Situation) error {
	action := s.Declaration.Enforce.Action
	var owned []budget.Pod
	for _, p := range s.Touchable() {
		// An eviction asks only what a waiting pod's Job would make of it.
		if action == budget.Pause || action == budget.Evict && p.Waiting && p.Owner.Kind == "Job" {
			owned = append(owned, p)
		}
	}
	if action == budget.Pause && len(owned) > 0 {
		owned = append(owned, s.Sparing()...)
	}
	if len(owned) == 0 {
		return nil
	}
	owners, err := j.books.cluster.Owners(ctx, owned, gpu.Rules{Weights: s.Declaration.ResourceWeights})
	for n := range s.Pods {
		p := &s.Pods[n]
		p.Of = owners[p.UID]
		if err != nil {
			p.Of = budget.Ownership{Reason: "whose it is can't be told"}
		}
	}
	return err
}

// record writes a budget's status, as what was done leaves it, and reports it.
func (j *judging) record(ctx context.Context, s budget.Situation, plan budget.Plan, did *enforcer) {
	d := s.Declaration
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	status := plan.Settle(did.done)
	err := cmp.Or(j.flow.saveStatus(recording, j.previous[d.Name].budgetStatus, status), did.failure)
	became := outcome.Done
	switch {
	case err != nil:
		became = outcome.Failed
	case did.stopped != nil:
		became, err = cutShort(did.stopped), did.stopped
	case outcome.AnyPlanned(did.results):
		became = outcome.Planned
	}
	// What is enforced is what is in force, not what would be.
	status.Fired = plan.Settle(slices.Concat(did.done, did.planned)).Fired
	j.add(newReport(d, status, became, err), did.results)
}
