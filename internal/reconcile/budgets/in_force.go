package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
)

// inForce is what budgets have in force, as an observation found it, and as what the run
// did since leaves it.
type inForce struct {
	frozen map[string]budget.FreezeRule // by the budget's uid
	paused []decide.Paused
	broken map[string]error // by the budget's uid: what it has paused can't be read
	err    error            // why it can't be told; nothing else is certain then
	// namespaces are the labels of namespaces, by name: by them pods are told apart.
	namespaces map[string]map[string]string
}

// observeInForce lists what is in force, of whatever budget.
func (k *kind) observeInForce(ctx context.Context, c Cluster, clusterUID string, namespaces map[string]map[string]string) *inForce {
	f := &inForce{frozen: map[string]budget.FreezeRule{}, namespaces: namespaces}
	freezes, err := c.Freezes(ctx)
	f.err = err
	for _, freeze := range freezes {
		f.frozen[freeze.BudgetUID] = freeze
	}
	all, err := pauses.Read(ctx, k.flow.Keeper.Store)
	f.err, f.broken = errors.Join(f.err, err), all.Broken
	for _, own := range all.ByBudget {
		if own.ClusterUID != clusterUID {
			continue
		}
		for _, pause := range own.Workloads() {
			running := false
			if underWay(pause) { // a run was killed: only an observation tells how far it came
				seen, err := c.Workload(ctx, pause.Workload)
				running = err != nil || !seen.Stopped
			}
			f.paused = append(f.paused, f.pausedBy(own.UID, pause, running))
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(all.Broken)) {
		if !k.run.Recorded(uid) {
			k.warnings.Add(all.Broken[uid].Error())
		}
	}
	if f.err != nil && !pauses.Forbidden(f.err) {
		k.warnings.Add(fmt.Sprintf("what budgets have in force can't be told: %v", f.err))
	}
	return f
}

// underWay says that a workload was on the way to be paused or resumed.
func underWay(p declaration.Pause) bool {
	return p.Phase == declaration.Pausing || p.Phase == declaration.Resuming
}

// pausedBy is a pause of a budget, as it is decided by.
func (f *inForce) pausedBy(uid string, p declaration.Pause, running bool) decide.Paused {
	return decide.Paused{
		Workload: p.Workload, BudgetUID: uid, PriorityClassName: p.PriorityClassName, Set: f.setOf(p.Namespace, p.Labels),
		Running: running, UnderWay: underWay(p), Undone: p.Phase == declaration.Started,
	}
}

// setOf is what the pods of a workload are told apart by; nil where its namespace
// is not known.
func (f *inForce) setOf(namespace string, labels map[string]string) *ledger.LabelSet {
	of, there := f.namespaces[namespace]
	if !there {
		return nil
	}
	return &ledger.LabelSet{Namespace: namespace, Labels: ledger.LabelsOf(labels), NamespaceLabels: ledger.LabelsOf(of)}
}

// learn has the budgets whose turn is later go by what one has paused now.
func (f *inForce) learn(uid string, pauses []declaration.Pause) {
	stopped := map[string]bool{} // by a run that was cut short, as was seen
	var paused []decide.Paused   // anew: earlier decisions go by the former
	for _, p := range f.paused {
		if p.BudgetUID == uid {
			stopped[p.UID] = p.UnderWay && !p.Running
			continue
		}
		paused = append(paused, p)
	}
	for _, p := range pauses {
		paused = append(paused, f.pausedBy(uid, p, underWay(p) && !stopped[p.UID]))
	}
	f.paused = paused
}

// whyBlocked says why a budget can't be enforced where what is in force can't be
// told. One that tells of thresholds alone, and always did, needs no right to
// know.
func (f *inForce) whyBlocked(s decide.Situation) error {
	if s.Declaration.Enforce.Action == budget.AlertOnly && (s.Previous == nil || !s.Previous.InForce()) {
		return nil
	}
	return cmp.Or(f.err, f.broken[s.Declaration.UID])
}
