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
	// busy are the budgets with possible actions, and bystanders those that this run does not judge.
	busy, bystanders []decide.Situation
	pausing          podPauses
}

// takeTurns records the budgets without actions in parallel. The others take turns until nothing is
// left to do: two of them can have the same pods.
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

// rank is the order of the turns. Exceeded budgets pause a workload before others release it, or evict
// its pods. Of these, those that pause resumed workloads again come first.
func rank(s decide.Situation) int {
	switch pauses := s.Declaration.Enforce.Action == budget.Pause; {
	case !s.Enforces():
		return 3
	case !pauses:
		return 2
	case s.Declaration.Enforce.PausesAgain():
		return 0
	}
	return 1
}

// podPauses are the pods whose workloads budgets pause in this run, by UID, or as namespace/name.
type podPauses map[string]podPause

// podPause is the pause of a pod's workload by a budget: decided, and then done.
type podPause struct {
	budget string
	done   bool
}

func podsOf(d budget.Decision) []string { return slices.Concat(d.Holding, d.Waiting) }

// decided records which pauses a budget is going to make.
func (p podPauses) decided(name string, decisions []budget.Decision) {
	for _, d := range decisions {
		if d.Kind == budget.KindPause {
			for _, pod := range podsOf(d) {
				p[pod] = podPause{budget: name}
			}
		}
	}
}

// settle records that a decided pause was made, or will not be.
func (p podPauses) settle(name string, d budget.Decision, made bool) {
	for _, pod := range podsOf(d) {
		switch {
		case made:
			p[pod] = podPause{budget: name, done: true}
		case p[pod].budget == name:
			delete(p, pod)
		}
	}
}

// of returns the pause of a pod's workload.
func (p podPauses) of(pod *budget.Pod) (podPause, bool) {
	for _, key := range []string{pod.UID, pod.Namespace + "/" + pod.Name} {
		if pause, found := p[key]; found {
			return pause, true
		}
	}
	return podPause{}, false
}

// pauser returns the pauser of a budget in this run. It respects what other budgets would pause.
func (e *enforcer) pauser(d budget.Declaration) pauses.Pauser {
	return pauses.Pauser{
		Repository: e.flow.Repository, Clock: e.flow.Clock, Cluster: e.cluster, Budget: d, Declared: e.declared,
		Wanted: func(seen budget.WorkloadState) string { return e.wanted(d.UID, seen) },
		Learn:  func(paused []declaration.Pause) { e.inForce.update(d.UID, paused) },
	}
}

// wanted names another budget of this cluster that would pause a workload, or returns "".
func (e *enforcer) wanted(uid string, seen budget.WorkloadState) string {
	paused := decide.Paused{Workload: seen.Workload, PriorityClassName: seen.PriorityClassName, Set: e.inForce.setOf(seen.Namespace, seen.Labels)}
	for _, s := range slices.Concat(e.busy, e.bystanders) {
		if s.Declaration.UID != uid && s.WouldPause(paused) {
			return s.Declaration.Name
		}
	}
	return ""
}
