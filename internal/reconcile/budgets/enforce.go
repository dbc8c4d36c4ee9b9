package budgets

import (
	"cmp"
	"context"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
)

// enforcer enforces the budgets of one run.
type enforcer struct {
	*kind
	cluster  Cluster
	books    *accounting.Books
	inForce  *inForce
	declared []budget.Declaration
	// busy are those that are, or may have to be, acted on, and bystanders those that are
	// not judged by this run.
	busy, bystanders []decide.Situation
}

// takeTurns records the budgets about which nothing is to be done, many at once. Each of
// the others is given a turn, and again, until nothing is left to do of any: two may
// have the same pods.
func (e *enforcer) takeTurns(ctx context.Context, works []*work, turns []loop.Turn) {
	more := make([]bool, len(turns))
	once := make([]loop.Turn, len(turns))
	for n, turn := range turns {
		once[n] = func(ctx context.Context) bool { more[n] = turn(ctx); return false }
	}
	loop.Parallel(ctx, once)
	var busy []int
	for n := range turns {
		if more[n] {
			busy = append(busy, n)
		}
	}
	slices.SortStableFunc(busy, func(a, b int) int {
		return cmp.Compare(rank(works[a].judgement.situation), rank(works[b].judgement.situation))
	})
	for len(busy) > 0 {
		busy = slices.DeleteFunc(busy, func(n int) bool { return !turns[n](ctx) })
	}
}

// rank is when a budget's turn comes among others'. What is exceeded takes hold
// before anything is let go that it holds as well. Of these, what leaves alone what
// someone started again comes after what pauses it again.
func rank(s decide.Situation) int {
	switch {
	case !s.Enforces():
		return 2
	case s.Declaration.Enforce.Action == budget.Pause && s.Declaration.Enforce.PausesAgain():
		return 0
	}
	return 1
}

// pauser is what a budget pauses and resumes by in this run: it looks out for what
// the others would pause, and they for what it has.
func (e *enforcer) pauser(d budget.Declaration) pauses.Pauser {
	return pauses.Pauser{
		Keeper: e.flow.Keeper, Clock: e.flow.Clock, Cluster: e.cluster, Budget: d, Declared: e.declared,
		Wanted: func(seen budget.WorkloadState) string { return e.wanted(d.UID, seen) },
		Learn:  func(paused []declaration.Pause) { e.inForce.learn(d.UID, paused) },
	}
}

// wanted names a budget of this cluster, other than one, that would hold a workload,
// if any.
func (e *enforcer) wanted(uid string, seen budget.WorkloadState) string {
	paused := decide.Paused{Workload: seen.Workload, PriorityClassName: seen.PriorityClassName, Set: e.inForce.setOf(seen.Namespace, seen.Labels)}
	for _, s := range slices.Concat(e.busy, e.bystanders) {
		if s.Declaration.UID != uid && s.WouldPause(paused) {
			return s.Declaration.Name
		}
	}
	return ""
}
