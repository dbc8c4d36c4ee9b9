package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// budgetTarget is one budget that the run judges.
type budgetTarget struct {
	declaration budget.Declaration
	phase       declaration.Phase
}

// declaredBudgets reads every budget's record in the store. One that can't be
// read fails its own budget alone.
func (r *run) declaredBudgets(ctx context.Context) ([]budgetTarget, error) {
	list, err := r.listBudgets(ctx)
	if err != nil {
		return nil, err
	}
	var targets []budgetTarget
	r.budgets = map[string]bool{}
	for _, b := range list {
		r.budgets[b.name] = true
		if b.err != nil {
			r.addBudget(failedBudget(budget.Declaration{Name: b.name}, b.err), nil)
			continue
		}
		targets = append(targets, budgetTarget{declaration: b.record.Declaration.WithDefaults(), phase: b.record.Phase})
	}
	return targets, nil
}

func (r *run) addBudget(b BudgetReport, results []Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Budgets = append(r.report.Budgets, b)
	r.report.Decisions = append(r.report.Decisions, results...)
}

// reconcileBudgets judges and enforces every budget of the cluster at hand. What
// stops all of them, such as a cluster that does not answer, fails them and
// leaves the pools to go on: by their statuses' age, their gates close.
func (r *run) reconcileBudgets(ctx context.Context, targets []budgetTarget, pools int) {
	r.known, r.unread = map[string]bool{}, len(r.report.Budgets) > 0
	for _, t := range targets {
		r.known[t.declaration.UID] = true
	}
	if len(targets) == 0 {
		r.liftLeftovers(ctx)
		return
	}
	if deadline, limited := ctx.Deadline(); limited && pools > 0 {
		half, cancel := context.WithTimeoutCause(ctx, time.Until(deadline)/2, errSlowCluster)
		defer cancel()
		ctx = half
	}
	cluster, uid, err := r.cluster(ctx)
	if err != nil {
		r.failBudgets(ctx, targets, fmt.Errorf("the cluster can't be reached: %w", err))
		return
	}
	targets = slices.DeleteFunc(targets, func(t budgetTarget) bool {
		d := t.declaration
		if d.ClusterUID == uid {
			return false
		}
		r.addBudget(failedBudget(d, &ClusterError{Object: d.Object(), Budget: d.ClusterUID, Cluster: uid}), nil)
		return true
	})
	targets = slices.DeleteFunc(targets, func(t budgetTarget) bool {
		if t.phase == declaration.Deleting {
			r.finishBudgetDeletion(ctx, cluster, t.declaration)
		}
		return t.phase == declaration.Deleting
	})
	if len(targets) == 0 {
		return
	}
	if err := r.judge(ctx, cluster, uid, targets); err != nil {
		r.failBudgets(ctx, targets, err)
	}
}

// failBudgets reports every budget that has no report yet as failed.
func (r *run) failBudgets(ctx context.Context, targets []budgetTarget, err error) {
	outcome := Failed
	if ctx.Err() != nil {
		outcome, err = stopped(ctx)
	}
	for _, t := range targets {
		if !slices.ContainsFunc(r.report.Budgets, func(b BudgetReport) bool { return b.Name == t.declaration.Name }) {
			r.addBudget(unjudgedBudget(t.declaration, outcome, err), nil)
		}
	}
}

// errSlowCluster says that budgets left the pools no more of the run's time.
var errSlowCluster = errors.New("the cluster took half of the run's time: the rest is the pools', and the next run goes on with the budgets")

var errInterruptedBudget = errors.New("the run was interrupted: the next one goes on with this budget")

// stopped is what becomes of a budget when the time is over.
func stopped(ctx context.Context) (Outcome, error) {
	if errors.Is(context.Cause(ctx), errSlowCluster) {
		return Failed, errSlowCluster
	}
	return Skipped, errInterruptedBudget
}

// finishBudgetDeletion goes on with a deletion that was cut short.
func (r *run) finishBudgetDeletion(ctx context.Context, c Cluster, d budget.Declaration) {
	if r.options.DryRun {
		r.addBudget(unjudgedBudget(d, Planned, errors.New("its deletion was begun: the next run finishes it")), nil)
		return
	}
	var notices []string
	err := r.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		record, err := r.loadBudget(ctx, d.Name)
		if err != nil {
			return err
		}
		if !record.exists() || record.value.Phase != declaration.Deleting || record.value.Declaration.UID != d.UID {
			return errBudgetChanged
		}
		notices, err = r.buryBudget(ctx, c, record)
		return err
	})
	outcome := Done
	switch {
	case isLocked(err), errors.Is(err, errBudgetChanged):
		outcome = Skipped
	case err != nil:
		outcome = Failed
	}
	report := unjudgedBudget(d, outcome, err)
	report.Notices, report.Deleted = notices, err == nil
	r.addBudget(report, nil)
}

var errBudgetChanged = errors.New("the budget was changed or destroyed by someone else while this run looked at it: the next run judges it")
