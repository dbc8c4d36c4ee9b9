package budgets

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
)

// judgement is the result of the usage of one budget.
type judgement struct {
	situation decide.Situation
	// plan is made without an observation of the current pods, and again with one before anything is
	// done: see actor.decide.
	plan     decide.Plan
	document budgetStatus // of the last run, which this run's status replaces
	// blocked is why nothing is done: what is in force is unknown; nil if it is known.
	blocked error
}

// judge judges budgets by the ledger and by what is in force. One that cannot be judged fails only
// itself.
func (e *enforcer) judge(list []budget.Declaration, previous map[string]previousStatus, granted grants, works map[string]*work) {
	b, f := e.books, e.inForce
	for n, result := range meter.Evaluate(granted.limited(list, b.Now()), b.Ledger().All(), b.Ledger().Header, b.Now(), time.LoadLocation) {
		d := list[n]
		w, last := works[d.Name], previous[d.Name]
		if w.err = cmp.Or(result.Err, last.err, granted[d.UID].Err); w.err != nil {
			continue
		}
		s := e.situation(d, result, b, last, granted, f)
		w.enforcer, w.judgement = e, judgement{situation: s, plan: decide.Decide(s, nil), document: last.document, blocked: f.blockError(s)}
		e.statuses[d.Name] = w.judgement.plan.Status
		if w.judgement.blocked == nil && !w.judgement.idle() {
			e.busy = append(e.busy, s)
			w.actor = &actor{kind: e.kind, cluster: e.cluster, books: b, pauser: e.pauser(d), declaration: d, judgement: w.judgement,
				pausing: e.pausing}
		}
		e.announceAccepted(w.judgement)
	}
}

func (k *kind) situation(d budget.Declaration, result meter.Result, b *accounting.Books, last previousStatus, granted grants, f *inForce) decide.Situation {
	freeze, frozen := f.frozen[d.UID]
	s := decide.Situation{
		Declaration: d, Result: result, Grants: granted.of(d), Now: b.Now(), RunID: k.options.RunID,
		Frozen: frozen, FreezeOutdated: frozen && !freeze.Selector.Same(d.Selector), FreezeRecoversAt: freeze.RecoversAt,
		Observation:     decide.Observation{Paused: f.paused},
		PriorityClasses: b.Observation.PriorityClasses, StoreNamespace: k.flow.Repository.Store.Location().Namespace,
		Lost: f.lost[d.UID], FreezeSlots: f.slots,
	}
	for _, doubt := range (surroundings{b.Observation.Namespaces, b.Observation.PriorityClasses, f.policy}).doubts(d) {
		s.ClusterDoubts = append(s.ClusterDoubts, doubt.Why)
	}
	s.ClusterDoubts = append(s.ClusterDoubts, b.ProblemsOf(d)...)
	if last.document.Exists() && last.document.Value.UID == d.UID {
		previous := last.document.Value.WithoutReported(k.flow.outbox.Has)
		s.Previous, s.Unseen = &previous, cmp.Or(f.err, f.broken[d.UID]) != nil
		s.Happened = confirmedEvents(previous, b, f)
	}
	return s
}

// bystanders returns the situations of the cluster's budgets that this run does not judge. A workload that
// one of them would pause is not resumed when another releases it.
func (k *kind) bystanders(clusterUID string, judged []budget.Declaration, b *accounting.Books, previous map[string]previousStatus, granted grants,
	f *inForce) []decide.Situation {
	others := slices.DeleteFunc(k.counted(clusterUID, judged), func(d budget.Declaration) bool { return k.options.Names.Budget(d.Name) })
	var list []decide.Situation
	for n, result := range meter.Evaluate(granted.limited(others, b.Now()), b.Ledger().All(), b.Ledger().Header, b.Now(), time.LoadLocation) {
		if last := previous[others[n].Name]; result.Err == nil && last.err == nil && granted[others[n].UID].Err == nil {
			list = append(list, k.situation(others[n], result, b, last, granted, f))
		}
	}
	return list
}

// confirmedEvents returns the events of a killed run that the observation confirms: the pod is gone or terminates,
// or the workload is paused or resumed.
func confirmedEvents(s budget.Status, b *accounting.Books, m *inForce) map[string]bool {
	if len(s.AboutTo) == 0 {
		return nil
	}
	held := map[string]bool{}
	for _, p := range m.paused {
		if p.BudgetUID == s.UID && !p.Undone && !p.Running {
			held[p.UID] = true
		}
	}
	seen := m.err == nil && m.broken[s.UID] == nil
	did := map[string]bool{}
	for _, e := range s.AboutTo {
		switch {
		case e.Kind == history.Evict && len(e.Pods) == 1:
			r, known := b.Ledger().Get(e.Pods[0].UID)
			did[e.ID] = known && (!r.Open() || r.Deletion != 0)
		case len(e.Workloads) == 1:
			did[e.ID] = seen && held[e.Workloads[0].UID] == (e.Kind == history.Pause)
		}
	}
	return did
}

// idle reports whether there is nothing to do for the budget, whatever pods exist.
func (j judgement) idle() bool {
	return len(j.plan.Decisions) == 0 && !j.plan.EnsureFreeze && !j.situation.Enforces()
}
