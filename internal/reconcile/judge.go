package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// judge brings the ledger up to date, and only then judges and enforces budgets.
// An error stops all of them.
func (r *run) judge(ctx context.Context, c Cluster, uid string, targets []budgetTarget) error {
	declarations := make([]budget.Declaration, len(targets))
	for n, t := range targets {
		declarations[n] = t.declaration
	}
	r.tell("cluster", "looking at the pods and nodes of the cluster", nil)
	b, err := r.account(ctx, c, uid, declarations)
	if err != nil {
		return err
	}
	for _, text := range b.warnings {
		r.warn(text)
	}
	if len(r.report.Budgets) == 0 { // a budget that can't be read may need all there is
		b.prune(declarations)
	}
	previous, err := r.previousStatuses(ctx)
	if err != nil {
		return err
	}
	b.noticeLoss(targets, previous)
	if !r.options.DryRun {
		if err := r.saveLedger(ctx, b); err != nil {
			return fmt.Errorf("nothing is enforced, since the ledger could not be written: %w", err)
		}
	}
	results := budget.Evaluate(declarations, b.ledger.All(), b.ledger.Header, b.now())
	j := &judging{run: r, books: b, previous: previous}
	if j.inForce, err = j.lookForMeasures(ctx, targets); err != nil {
		return err
	}
	j.liftOrphans(ctx, targets)
	j.forgetStatuses(ctx)
	j.judgeAll(ctx, targets, results)
	return nil
}

// judgeAll records the budgets of which nothing follows, many at once, and then
// enforces the others one after the other: two may have the same pods.
func (j *judging) judgeAll(ctx context.Context, targets []budgetTarget, results []budget.Result) {
	var calm errgroup.Group
	calm.SetLimit(poolsAtOnce)
	var busy []budget.Situation
	for n, t := range targets {
		if err := cmp.Or(results[n].Err, j.previous[t.declaration.Name].err); err != nil {
			j.addBudget(failedBudget(t.declaration, err), nil)
			continue
		}
		s := j.situation(t.declaration, results[n])
		plan := budget.Decide(s)
		if len(plan.Decisions) > 0 || plan.Uphold || wantsPods(s) {
			busy = append(busy, s)
			continue
		}
		calm.Go(func() error { j.record(ctx, s, plan, &enforcer{}); return nil })
	}
	_ = calm.Wait()
	for _, s := range busy {
		j.enforce(ctx, s)
	}
}

// judging is what budgets are judged by in one run.
type judging struct {
	*run
	books *books
	inForce
	previous map[string]previousStatus // by the name of the budget
}

// inForce are the measures that were found in force.
type inForce struct {
	frozen map[string]Freeze // by the budget's uid
	paused []budget.Paused
}

// lookForMeasures lists what is in force. Where no budget enforces anything, nor
// did, the cluster is not asked: who is told of thresholds alone needs no right
// to.
func (j *judging) lookForMeasures(ctx context.Context, targets []budgetTarget) (inForce, error) {
	force, c := inForce{frozen: map[string]Freeze{}}, j.books.cluster
	if !slices.ContainsFunc(targets, func(t budgetTarget) bool {
		return t.declaration.Enforce.Action != budget.AlertOnly || len(j.previous[t.declaration.Name].value.Enforced) > 0
	}) {
		return force, nil
	}
	freezes, err := c.Freezes(ctx)
	if err != nil {
		return force, err
	}
	for _, f := range freezes {
		force.frozen[f.BudgetUID] = f
	}
	paused, err := c.Paused(ctx)
	if err != nil {
		return force, err
	}
	for _, p := range paused {
		force.paused = append(force.paused, budget.Paused{Workload: p.Workload, BudgetUID: p.BudgetUID})
	}
	return force, nil
}

// liftOrphans lifts what budgets left in force that were destroyed in this store.
func (j *judging) liftOrphans(ctx context.Context, targets []budgetTarget) {
	left := map[string]bool{}
	for uid := range j.frozen {
		left[uid] = true
	}
	for _, p := range j.paused {
		left[p.BudgetUID] = true
	}
	for _, t := range targets {
		delete(left, t.declaration.UID)
	}
	for _, uid := range slices.Sorted(maps.Keys(left)) {
		tombstone, err := j.loadTombstone(ctx, uid)
		if err != nil || !tombstone.exists() {
			continue // another store's, perhaps: not ours to lift
		}
		name := strings.TrimPrefix(tombstone.value.Object, "budget/")
		if j.options.DryRun {
			j.warn(fmt.Sprintf("the budget %s is destroyed, and something of what it enforced is still in force: the next run lifts it", name))
			continue
		}
		notices, err := release(ctx, j.books.cluster, budget.Declaration{Name: name, UID: uid})
		if err != nil {
			notices = append(notices, err.Error())
		}
		j.warn(strings.Join(append([]string{fmt.Sprintf("the budget %s is destroyed, and something of what it enforced was still in force: it was lifted", name)}, notices...), "; "))
	}
}

// forgetStatuses removes what a run wrote of a budget that was destroyed
// meanwhile.
func (j *judging) forgetStatuses(ctx context.Context) {
	for _, name := range slices.Sorted(maps.Keys(j.previous)) {
		if j.budgets[name] || j.options.DryRun {
			continue
		}
		if err := remove(ctx, j.Store, store.Statuses, budgetStatusName(name), j.previous[name].revision); err != nil {
			j.warn(err.Error())
		}
	}
}

func (j *judging) situation(d budget.Declaration, result budget.Result) budget.Situation {
	freeze, frozen := j.frozen[d.UID]
	s := budget.Situation{
		Declaration: d, Result: result, Now: j.books.now(), RunID: j.report.RunID,
		Frozen: frozen, FreezeOutdated: frozen && !freeze.Selector.Same(d.Selector), Paused: j.paused,
		PriorityClasses: j.books.observation.PriorityClasses, StoreNamespace: storeNamespace(j.Store.String()),
	}
	if previous := j.previous[d.Name]; previous.exists() && previous.value.UID == d.UID {
		s.Previous = &previous.value
	}
	return s
}

// storeNamespace is where the store lives in the cluster; empty where it doesn't.
func storeNamespace(store string) string {
	namespace, found := strings.CutPrefix(store, "kubernetes:")
	if !found {
		return ""
	}
	return namespace
}

// wantsPods says whether the pods of now decide what is done.
func wantsPods(s budget.Situation) bool {
	action := s.Declaration.Enforce.Action
	return s.Result.Usage.Exceeded() && (action == budget.Pause || action == budget.Evict)
}

// enforce decides about one budget on a fresh look, under its lock, and carries
// the decisions out.
func (j *judging) enforce(ctx context.Context, s budget.Situation) {
	d := s.Declaration
	if j.options.DryRun {
		plan, err := j.decide(ctx, s)
		if err != nil {
			j.addBudget(failedBudget(d, err), nil)
			return
		}
		j.recordDry(d, plan)
		return
	}
	recorded := false
	err := j.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		// The declaration may have changed since it was listed.
		record, err := j.loadBudget(ctx, d.Name)
		if err != nil {
			return err
		}
		now := record.value.Declaration
		if !record.exists() || record.value.Phase != declaration.Active || now.UID != d.UID || now.Generation != d.Generation {
			return errBudgetChanged
		}
		plan, err := j.decide(ctx, s)
		if err != nil {
			return err
		}
		a := &enforcer{judging: j, declaration: d, plan: plan}
		a.run(ctx)
		j.record(ctx, s, plan, a)
		recorded = true
		return nil
	})
	switch {
	case err == nil:
	case recorded: // the lock could not be given back
		j.warn(err.Error())
	case isLocked(err), errors.Is(err, errBudgetChanged):
		j.addBudget(unjudgedBudget(d, Skipped, err), nil)
	case ctx.Err() != nil:
		outcome, err := stopped(ctx)
		j.addBudget(unjudgedBudget(d, outcome, err), nil)
	default:
		j.addBudget(failedBudget(d, err), nil)
	}
}

// decide is budget.Decide with the pods of now, where they matter.
func (j *judging) decide(ctx context.Context, s budget.Situation) (budget.Plan, error) {
	if wantsPods(s) {
		pods, err := j.books.live(ctx, s.Declaration)
		if err != nil {
			return budget.Plan{}, err
		}
		s.Pods = pods
	}
	return budget.Decide(s), nil
}

// record writes a budget's status, as what was done leaves it, and reports it.
func (j *judging) record(ctx context.Context, s budget.Situation, plan budget.Plan, did *enforcer) {
	d := s.Declaration
	if j.options.DryRun {
		j.recordDry(d, plan)
		return
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordGrace)
	defer cancel()
	status := plan.Settle(did.done)
	err := j.saveBudgetStatus(recording, j.previous[d.Name].budgetStatus, status)
	for _, result := range did.results {
		if result.Outcome == Failed && err == nil {
			err = errors.New(result.Error.Message)
		}
	}
	outcome := Done
	switch {
	case err != nil:
		outcome = Failed
	case did.stopped != nil:
		outcome, err = stopped(ctx)
	}
	j.addBudget(newBudgetReport(d, status, outcome, err), did.results)
}

// recordDry reports what a run would do, and keeps the status for the gates.
func (j *judging) recordDry(d budget.Declaration, plan budget.Plan) {
	outcome := Done
	results := make([]Result, len(plan.Decisions))
	for n, decision := range plan.Decisions {
		outcome, results[n] = Planned, budgetResult(decision, Planned, nil)
	}
	j.mu.Lock()
	if j.statuses == nil {
		j.statuses = map[string]budget.Status{}
	}
	j.statuses[d.Name] = plan.Status
	j.mu.Unlock()
	j.addBudget(newBudgetReport(d, plan.Status, outcome, nil), results)
}
