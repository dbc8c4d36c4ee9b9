package budgets

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
)

// inForce is what budgets have in force, as observed and changed by this run.
type inForce struct {
	frozen map[string]budget.FreezeRule // by the budget's uid
	slots  budget.SlotWrite
	policy error // why a freeze would fail; nil if nothing is known to stop it
	paused []decide.Paused
	broken map[string]error                   // by the budget's uid: what it has paused can't be read
	err    error                              // why it can't be told; nothing else is certain then
	lost   map[string][]budget.PausedWorkload // by the budget's UID: no document has them
	// namespaces are the labels of namespaces, by name.
	namespaces map[string]map[string]string
}

// observeInForce lists what all budgets have in force.
func (k *kind) observeInForce(ctx context.Context, c Cluster, clusterUID string, namespaces map[string]map[string]string) *inForce {
	f := &inForce{frozen: map[string]budget.FreezeRule{}, namespaces: namespaces}
	freezes, last, err := c.Freezes(ctx)
	f.err, f.slots = err, last
	for _, freeze := range freezes {
		f.frozen[freeze.BudgetUID] = freeze
	}
	all, err := pauses.Read(ctx, k.flow.Repository.Store)
	f.err, f.broken = errors.Join(f.err, err), all.Broken
	for _, own := range all.ByBudget {
		if own.ClusterUID != clusterUID {
			continue
		}
		for _, pause := range own.Workloads() {
			running := false
			if pending(pause) { // a run was killed: only an observation shows the state
				seen, err := c.Workload(ctx, pause.Workload)
				running = err != nil || !seen.Stopped
			}
			f.paused = append(f.paused, f.pauseState(own.UID, pause, running))
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(all.Broken)) {
		if !k.run.Recorded(uid) {
			k.warnings.Warn(reason.DocumentFailed(reason.Failure(all.Broken[uid])))
		}
	}
	if f.err != nil && !pauses.Forbidden(f.err) {
		k.warnings.Warn(reason.InForceUnknown(reason.Failure(f.err)))
	}
	return f
}

// pending reports whether a run was killed while it paused or resumed the workload.
func pending(p declaration.Pause) bool {
	return p.Phase == declaration.Pausing || p.Phase == declaration.Resuming
}

// pauseState returns a pause of a budget, as input of decisions.
func (f *inForce) pauseState(uid string, p declaration.Pause, running bool) decide.Paused {
	return decide.Paused{
		Workload: p.Workload, Replicas: p.Replicas, BudgetUID: uid, PriorityClassName: p.PriorityClassName, Set: f.setOf(p.Namespace, p.Labels),
		CreatedAt: p.CreatedAt, Since: p.At, Running: running, UnderWay: pending(p), Undone: p.Phase == declaration.Started,
	}
}

// setOf returns the labels of a workload's pods; nil if its namespace is unknown.
func (f *inForce) setOf(namespace string, labels map[string]string) *ledger.LabelSet {
	of, there := f.namespaces[namespace]
	if !there {
		return nil
	}
	return &ledger.LabelSet{Namespace: namespace, Labels: ledger.LabelsOf(labels), NamespaceLabels: ledger.LabelsOf(of)}
}

// update replaces the pauses of a budget, for the budgets with later turns.
func (f *inForce) update(uid string, pauses []declaration.Pause) {
	stopped := map[string]bool{} // by an interrupted run, as observed
	var paused []decide.Paused   // a new list: earlier decisions have the old one
	for _, p := range f.paused {
		if p.BudgetUID == uid {
			stopped[p.UID] = p.UnderWay && !p.Running
			continue
		}
		paused = append(paused, p)
	}
	for _, p := range pauses {
		paused = append(paused, f.pauseState(uid, p, pending(p) && !stopped[p.UID]))
	}
	f.paused = paused
}

// blockError returns why a budget cannot be enforced: what is in force is unknown. A budget that only
// ever alerted does not need to know.
func (f *inForce) blockError(s decide.Situation) error {
	if s.Declaration.Enforce.Action == budget.AlertOnly && (s.Previous == nil || !s.Previous.InForce()) {
		return nil
	}
	return cmp.Or(f.err, f.broken[s.Declaration.UID])
}
