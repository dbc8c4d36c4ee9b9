package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// suspend plans which owners are paused, each once. One that owns a protected
// pod is left alone, and so is one that this budget has paused already, unless it
// was started again and the budget pauses such again.
func (d *decider) suspend() {
	pods := d.victims("pausing")
	s := &suspension{
		decider: d, spared: d.sparedOwners(), ours: d.heldForCertain(), undone: d.undone(), seen: map[string]bool{}, burns: map[string]bool{},
		waits: map[string][]string{},
	}
	for _, p := range pods {
		s.burns[p.Of.Workload.UID] = true
	}
	for _, p := range append(pods, d.waiting()...) {
		s.consider(p)
	}
	if len(s.loose) > 0 {
		slices.Sort(s.loose)
		d.warn("%d %s be paused, and still %s: %s", len(s.loose), wording.Plural(len(s.loose), "pod cannot", "pods cannot"),
			wording.Plural(len(s.loose), "counts", "count"), wording.Some(s.loose))
	}
	s.tellRestarted()
	// What only waits comes first: it would start in what the others leave.
	slices.SortFunc(s.owners, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(lastIf(s.burns[a.Owner.UID]), lastIf(s.burns[b.Owner.UID])), strings.Compare(a.Owner.id(), b.Owner.id()))
	})
	for _, decision := range s.owners {
		decision.Waiting = s.waits[decision.Owner.UID]
		d.decide(decision)
	}
	s.takeStopped()
}

// suspension is one suspend at work. Workloads are by uid.
type suspension struct {
	*decider
	spared    map[string]bool // by the id of a workload
	ours      map[string]bool // paused by this budget for certain
	undone    map[string]bool // started again since, and left so
	seen      map[string]bool
	burns     map[string]bool     // has pods that hold GPUs
	waits     map[string][]string // pods of what burns none
	owners    []Decision
	loose     []string // pods without a workload that could be paused
	restarted []string
}

// consider takes up the owner of a pod. One that waits and can't be kept from it
// was told of as that.
func (s *suspension) consider(p Pod) {
	w := p.Of.Workload
	switch {
	case w.Name == "" && p.Waits(), p.Of.Keeper != "":
		return
	case p.Owner == nil:
		s.loose = append(s.loose, p.ref()+" (it has no owner)")
		return
	case w.Name == "":
		s.loose = append(s.loose, fmt.Sprintf("%s (%s)", p.ref(), p.Of.Reason))
		return
	case s.foreign(p):
		s.loose = append(s.loose, fmt.Sprintf("%s (the pods that the %s makes are not the budget's)", p.ref(), w))
		return
	case s.spared[w.id()]:
		return
	}
	if p.Waits() && !s.burns[w.UID] {
		s.waits[w.UID] = append(s.waits[w.UID], p.UID)
	}
	paused := s.ours[w.UID] || s.undone[w.UID]
	if s.seen[w.UID] || paused && p.Of.Stopped { // then its pods are about to end
		return
	}
	s.seen[w.UID] = true
	reasons := s.because()
	if p.Waits() {
		reasons = append(reasons, "its pods wait for GPUs, and would start in what becomes free")
	}
	if paused {
		s.restarted = append(s.restarted, w.String())
		if s.ours[w.UID] {
			s.plan.paused--
		}
		if !s.Declaration.Enforce.Repause {
			if s.ours[w.UID] {
				s.plan.Undone = append(s.plan.Undone, w)
			}
			return
		}
		reasons = append(reasons, "someone started it again since it was paused")
	}
	s.owners = append(s.owners, Decision{Kind: KindPause, Owner: &w, Reasons: reasons})
}

// foreign says that a workload makes pods of others, by its own template: that one
// pod which it is made to own is the budget's doesn't have the others pay for it.
func (s *suspension) foreign(p Pod) bool {
	set := p.charged()
	return set != nil && s.Declaration.Selector.excludes(&ledger.LabelSet{
		Namespace: set.Namespace, Labels: ledger.LabelsOf(p.Of.Labels), NamespaceLabels: set.NamespaceLabels,
	})
}

// tellRestarted tells of what was paused and runs again: it does not stand as
// enforced.
func (s *suspension) tellRestarted() {
	n := len(s.restarted)
	if n == 0 {
		return
	}
	then := "repause = false leaves it so"
	if s.Declaration.Enforce.Repause {
		then = "it is paused again"
	}
	slices.Sort(s.restarted)
	s.warn("%d %s paused and started again by someone, and %s GPUs: %s; %s", n, wording.Plural(n, "workload was", "workloads were"),
		wording.Plural(n, "its pods hold", "their pods hold"), wording.Some(s.restarted), then)
}

// takeStopped holds what is stopped already: by a run of this budget's that was
// cut short, or by another budget, whose pause may end earlier.
func (s *suspension) takeStopped() {
	for _, p := range s.Paused {
		reason := ""
		switch own := p.BudgetUID == s.Declaration.UID; {
		case s.seen[p.UID] || s.ours[p.UID]:
			continue
		case own && p.UnderWay && !p.Running:
			reason = "a run that was cut short stopped it"
		case !own && !s.spared[p.id()] && s.covers(p):
			reason = "another budget has paused it, and this one holds it as well"
		default:
			continue
		}
		s.seen[p.UID] = true
		s.decide(Decision{Kind: KindPause, Owner: &p.Workload, Reasons: append(s.because(), reason)})
	}
}

// covers says whether the pods of a workload that another budget paused would
// count against this one, and might be touched by it.
func (d *decider) covers(p Paused) bool {
	if p.Running || p.Undone || !d.selects(p.Set) {
		return false
	}
	live := gpu.Live{PriorityClassName: p.PriorityClassName, Priority: d.PriorityClasses[p.PriorityClassName]}
	return d.protection(Pod{Pod: gpu.Pod{Namespace: p.Namespace, Live: live}, Set: p.Set}) == ""
}

// heldForCertain are the workloads that this budget paused for certain, by uid. Another
// budget's pause is no reason to leave one alone: it may end earlier.
func (d *decider) heldForCertain() map[string]bool {
	paused := map[string]bool{}
	for _, p := range d.own() {
		if !p.UnderWay && !p.Undone {
			paused[p.UID] = true
		}
	}
	return paused
}

// undone are the workloads that someone started again since this budget paused
// them, by uid.
func (d *decider) undone() map[string]bool {
	undone := map[string]bool{}
	for _, p := range d.own() {
		undone[p.UID] = p.Undone
	}
	return undone
}

// WouldPause says whether the budget would hold a workload that another one has
// paused: its pods would count against a limit that is reached.
func (s Situation) WouldPause(p Paused) bool {
	d := &decider{Situation: s, usage: s.Result.Usage}
	d.report()
	return d.usage.Exceeded() && d.due && s.Declaration.Enforce.Action == Pause && d.doubt() == "" && d.covers(p)
}

// id tells workloads apart by name: what a pod says of its owner may lack more.
func (w Workload) id() string {
	group, _, _ := strings.Cut(w.APIVersion, "/")
	return w.Namespace + "/" + group + "/" + w.Kind + "/" + w.Name
}

// sparedOwners are those that own a protected pod: that it only names them as its
// owners spares nobody's.
func (d *decider) sparedOwners() map[string]bool {
	spared := map[string]bool{}
	for _, p := range d.sparing() {
		if p.Of.Workload.Name != "" {
			spared[p.Of.Workload.id()] = true
		}
	}
	return spared
}
