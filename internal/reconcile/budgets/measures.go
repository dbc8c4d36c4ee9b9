package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// inForce are the measures that were found in force.
type inForce struct {
	frozen map[string]budget.FreezeRule // by the budget's uid
	paused []pausedWorkload
	broken map[string]error // by the budget's uid: what it holds paused can't be read
	err    error            // why it can't be told; nothing else is certain then
}

// pausedWorkload is a workload that a budget holds paused.
type pausedWorkload struct {
	declaration.Pause
	budgetUID string
	// running says that it is not stopped, as far as was looked.
	running bool
}

// unsettled says that it was on the way to be paused or resumed.
func (p pausedWorkload) unsettled() bool {
	return p.Phase == declaration.Pausing || p.Phase == declaration.Resuming
}

// lookForMeasures lists what is in force, of whatever budget.
func (r *Run) lookForMeasures(ctx context.Context, c Cluster, clusterUID string) inForce {
	force := inForce{frozen: map[string]budget.FreezeRule{}}
	freezes, err := c.Freezes(ctx)
	force.err = err
	for _, f := range freezes {
		force.frozen[f.BudgetUID] = f
	}
	all, err := r.flow.held(ctx)
	force.err, force.broken = errors.Join(force.err, err), all.broken
	for _, of := range all.list {
		if of.clusterUID != clusterUID {
			continue
		}
		for _, hold := range of.all() {
			p := pausedWorkload{Pause: hold, budgetUID: of.uid}
			if p.unsettled() { // a run was killed: only a look tells how far it came
				seen, err := c.Workload(ctx, hold.Workload)
				p.running = err != nil || !seen.Stopped
			}
			force.paused = append(force.paused, p)
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(all.broken)) {
		if !r.known[uid] {
			r.warnings.Add(all.broken[uid].Error())
		}
	}
	if force.err != nil && !isForbidden(force.err) {
		r.warnings.Add(fmt.Sprintf("what budgets have in force can't be told: %v", force.err))
	}
	return force
}

// pausedSets are the paused workloads, with what their pods are told apart by.
func (b *books) pausedSets(paused []pausedWorkload) []budget.Paused {
	list := make([]budget.Paused, len(paused))
	for n, w := range paused {
		list[n] = budget.Paused{Workload: w.Workload, BudgetUID: w.budgetUID, PriorityClassName: w.PriorityClassName, Running: w.running, Unsettled: w.unsettled(), Undone: w.Phase == declaration.Started}
		list[n].Set = b.setOf(w.Namespace, w.Labels)
	}
	return list
}

// setOf is what the pods of a workload are told apart by; nil where its namespace
// is not known.
func (b *books) setOf(namespace string, labels map[string]string) *ledger.LabelSet {
	of, there := b.observation.Namespaces[namespace]
	if !there {
		return nil
	}
	return &ledger.LabelSet{Namespace: namespace, Labels: ledger.LabelsOf(labels), NamespaceLabels: ledger.LabelsOf(of)}
}

// learn has the budgets whose turn is later go by what one holds now.
func (j *judging) learn(uid string, holds []declaration.Pause) {
	looked := map[string]bool{} // how far what was cut short had come
	j.paused = slices.DeleteFunc(j.paused, func(p pausedWorkload) bool {
		if p.budgetUID == uid {
			looked[p.UID] = p.unsettled() && !p.running
		}
		return p.budgetUID == uid
	})
	for _, hold := range holds {
		p := pausedWorkload{Pause: hold, budgetUID: uid}
		p.running = p.unsettled() && !looked[p.UID]
		j.paused = append(j.paused, p)
	}
	j.changed = true
}

// isForbidden says that the role lacks a right: all that went wrong is that.
func isForbidden(err error) bool {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		return !slices.ContainsFunc(many.Unwrap(), func(err error) bool { return !isForbidden(err) })
	}
	var refused interface{ Forbidden() bool }
	return errors.As(err, &refused) && refused.Forbidden()
}

// unlisted says why a budget can't be enforced where what is in force can't be
// told. One that tells of thresholds alone, and always did, needs no right to
// know.
func (j *judging) unlisted(s budget.Situation) error {
	if s.Declaration.Enforce.Action == budget.AlertOnly && (s.Previous == nil || len(s.Previous.Enforced) == 0) {
		return nil
	}
	return cmp.Or(j.inForce.err, j.inForce.broken[s.Declaration.UID])
}

// liftOrphans lifts what budgets left in force that were destroyed in this store,
// and tells of what no budget of it did.
func (r *Run) liftOrphans(ctx context.Context, c Cluster, clusterUID string, force inForce) {
	left := map[string]bool{}
	for uid := range force.frozen {
		left[uid] = true
	}
	for _, p := range force.paused {
		left[p.budgetUID] = true
	}
	for _, uid := range slices.Sorted(maps.Keys(left)) {
		if r.known[uid] {
			continue
		}
		tombstone, err := r.flow.Keeper.Tombstone(ctx, uid)
		switch {
		case err != nil:
			r.warnings.Add(err.Error())
		case tombstone.Exists():
			r.liftOrphan(ctx, c, budget.Declaration{Name: strings.TrimPrefix(tombstone.Value.Object, "budget/"), UID: uid, ClusterUID: clusterUID})
		case !r.unread:
			r.warnings.Add(fmt.Sprintf("something is in force in the cluster for a budget with the uid %[1]s, which the store %[2]s does not know: it is left as it is. It is another store's, or its record was lost: kubectl get validatingadmissionpolicybindings -l gpupool/budget-uid=%[1]s shows a freeze, and the store's documents pauses/%[1]s what is paused", uid, r.flow.Keeper.Store))
		}
	}
}

func (r *Run) liftOrphan(ctx context.Context, c Cluster, d budget.Declaration) {
	notices, err := r.flow.release(ctx, c, d, budget.Status{})
	if errors.Is(err, outcome.ErrPlanned) {
		r.warnings.Add(fmt.Sprintf("the budget %s is destroyed, and something of what it enforced is still in force: the next run lifts it", d.Name))
		return
	}
	if err != nil {
		r.warnings.Add(fmt.Sprintf("the budget %s is destroyed, and something of what it enforced is still in force: the next run tries again to lift it: %v", d.Name, err))
		return
	}
	r.warnings.Add(strings.Join(append([]string{fmt.Sprintf("the budget %s is destroyed, and something of what it enforced was still in force: it was lifted", d.Name)}, notices...), "; "))
}

// leftoverTime bounds the look for what destroyed budgets left in force where no
// budget is declared any more: nothing else may wait for it.
const leftoverTime = 20 * time.Second

// liftLeftovers lifts what destroyed budgets left in force where none is
// declared. It asks the cluster only while the store remembers such budgets.
func (r *Run) liftLeftovers(ctx context.Context) {
	if r.flow.Cluster == nil || !r.hasBuriedBudgets(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leftoverTime)
	defer cancel()
	c, uid, err := r.flow.cluster(ctx)
	if err != nil {
		r.flow.Teller.Logger().Warn("what destroyed budgets left in force was not looked for", "error", err)
		return
	}
	r.liftOrphans(ctx, c, uid, r.lookForMeasures(ctx, c, uid))
}

func (r *Run) hasBuriedBudgets(ctx context.Context) bool {
	docs, err := r.flow.Keeper.Store.List(ctx, store.Tombstones)
	if err != nil {
		r.warnings.Add(err.Error())
		return false
	}
	return slices.ContainsFunc(docs, func(doc store.Document) bool {
		tombstone, err := declaration.Decode[declaration.Tombstone](record.DocumentName(r.flow.Keeper.Store, doc.Key), doc.Data)
		return err == nil && strings.HasPrefix(tombstone.Object, "budget/")
	})
}
