package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// pause decides which owners are paused, each once. One that owns a protected
// pod is left alone, and so is one that this budget has paused already, unless it
// was started again and the budget pauses such again.
func pause(f *facts) (r result) {
	pods := f.victims(&r, "pausing")
	s := &selection{facts: f, spared: f.sparedOwners(), ours: map[string]bool{}, undone: map[string]bool{}, seen: map[string]bool{},
		withGPUs: map[string]bool{}, waits: map[string][]string{}, holding: map[string][]string{}, awaited: map[string]budget.Pod{}}
	for _, p := range f.own {
		// Another budget's pause is no reason to leave a workload alone: it may end earlier.
		s.ours[p.UID], s.undone[p.UID] = s.ours[p.UID] || !p.UnderWay && !p.Undone, p.Undone
	}
	for _, p := range pods {
		s.withGPUs[p.Of.Workload.UID] = true
		s.holding[p.Of.Workload.UID] = append(s.holding[p.Of.Workload.UID], p.String())
	}
	waiting, _ := f.waiting()
	for _, p := range append(pods, waiting...) {
		s.consider(p)
	}
	s.await(f.lingering())
	if n := len(s.loose); n > 0 {
		slices.Sort(s.loose)
		r.warnf("%d %s be paused, and still %s: %s", n, wording.Plural(n, "pod cannot", "pods cannot"), wording.Plural(n, "counts", "count"),
			wording.Some(s.loose))
	}
	s.warnRestarted(&r)
	r.Undone, r.running = s.left, s.running
	// What only waits comes first: it would start in what the others leave.
	slices.SortFunc(s.owners, func(a, b budget.Decision) int {
		return cmp.Or(cmp.Compare(lastIf(s.withGPUs[a.Owner.UID]), lastIf(s.withGPUs[b.Owner.UID])), strings.Compare(id(*a.Owner), id(*b.Owner)))
	})
	for _, decision := range s.owners {
		decision.Waiting, decision.Holding = s.waits[decision.Owner.UID], s.holding[decision.Owner.UID]
		r.decide(decision)
	}
	s.takeStopped(&r)
	r.awaited = s.effects()
	r.add(fallBack(f, r.awaited))
	return r
}

// selection is the choice of what one budget pauses. Workloads are by uid.
type selection struct {
	*facts
	spared   map[string]bool // by the id of a workload
	ours     map[string]bool // paused by this budget for certain
	undone   map[string]bool // started again since, and left so
	seen     map[string]bool
	withGPUs map[string]bool     // has pods with GPUs
	waits    map[string][]string // pods of what has none that do
	holding  map[string][]string // pods with GPUs
	// awaited has a pod of each workload of which the pods are to end by what was requested.
	awaited map[string]budget.Pod
	owners  []budget.Decision
	loose   []string // pods without a workload that could be paused
	// restarted were paused and run again; running of them count as paused, and left are
	// those that stay as they are.
	restarted []string
	running   int
	left      []budget.Workload
}

// consider takes up the owner of a pod. One that waits and can't be kept from it
// was warned of as that.
func (s *selection) consider(p budget.Pod) {
	w := p.Of.Workload
	switch {
	case w.Name == "" && p.Waits(), p.Of.Keeper != "" && p.Waits():
		return
	case p.Owner == nil:
		s.loose = append(s.loose, p.String()+" (it has no owner)")
		return
	case w.Name == "":
		s.loose = append(s.loose, fmt.Sprintf("%s (%s)", p, p.Of.Reason))
		return
	case s.spared[id(w)] && !p.Waits():
		s.loose = append(s.loose, fmt.Sprintf("%s (the %s has a protected pod)", p, w))
		return
	case s.spared[id(w)]:
		return
	case p.Of.Keeper != "":
		s.awaited[w.UID] = p
		return
	case s.foreign(p):
		s.loose = append(s.loose, fmt.Sprintf("%s (the pods that the %s makes are not the budget's)", p, w))
		return
	}
	if p.Waits() && !s.withGPUs[w.UID] {
		s.waits[w.UID] = append(s.waits[w.UID], p.UID)
	}
	paused := s.ours[w.UID] || s.undone[w.UID]
	if paused && p.Of.Stopped && !p.Waits() { // its pods are to end by that
		s.awaited[w.UID] = p
	}
	if s.seen[w.UID] || paused && p.Of.Stopped {
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
			s.running++
		}
		if !s.Declaration.Enforce.PausesAgain() {
			if s.ours[w.UID] {
				s.left = append(s.left, w)
			}
			return
		}
		reasons = append(reasons, "someone started it again since it was paused")
	}
	s.owners = append(s.owners, budget.Decision{Kind: budget.KindPause, Owner: &w, Reasons: reasons})
}

// await waits for pods that were deleted and still hold GPUs, where their workload is stopped.
func (s *selection) await(lingering []budget.Pod) {
	for _, p := range lingering {
		uid := p.Of.Workload.UID
		if p.Of.Workload.Name == "" || p.Of.Keeper == "" && !(p.Of.Stopped && (s.ours[uid] || s.undone[uid])) {
			continue
		}
		s.awaited[uid], s.holding[uid] = p, append(s.holding[uid], p.String())
	}
}

// foreign reports whether a workload makes pods of others, by its own template: that one
// pod which it is made to own is the budget's doesn't have the others pay for it.
func (s *selection) foreign(p budget.Pod) bool {
	set := countedBy(p)
	return set != nil && s.Declaration.Selector.Excludes(&ledger.LabelSet{
		Namespace: set.Namespace, Labels: ledger.LabelsOf(p.Of.Labels), NamespaceLabels: set.NamespaceLabels,
	})
}

// warnRestarted warns of what was paused and runs again: it does not stand as
// enforced.
func (s *selection) warnRestarted(r *result) {
	n := len(s.restarted)
	if n == 0 {
		return
	}
	then := "on_manual_resume = \"warn\" leaves it so"
	if s.Declaration.Enforce.PausesAgain() {
		then = "it is paused again"
	}
	slices.Sort(s.restarted)
	r.warnf("%d %s paused and started again by someone, and %s GPUs: %s; %s", n, wording.Plural(n, "workload was", "workloads were"),
		wording.Plural(n, "its pods hold", "their pods hold"), wording.Some(s.restarted), then)
}

// takeStopped decides to pause what is stopped already: by a run of this budget's that was
// cut short, or by another budget, whose pause may end earlier.
func (s *selection) takeStopped(r *result) {
	for _, p := range s.Paused {
		reason := ""
		switch own := p.BudgetUID == s.Declaration.UID; {
		case s.seen[p.UID] || s.ours[p.UID]:
			continue
		case own && p.UnderWay && !p.Running:
			reason = "a run that was cut short stopped it"
		case !own && !s.spared[id(p.Workload)] && s.covers(p):
			reason = "another budget has paused it, and this one holds it as well"
		default:
			continue
		}
		s.seen[p.UID] = true
		r.decide(budget.Decision{Kind: budget.KindPause, Owner: &p.Workload, Reasons: append(s.because(), reason)})
	}
}

// covers reports whether the pods of a workload that another budget paused would
// count against this one, and might be touched by it.
func (f *reach) covers(p Paused) bool {
	if p.Running || p.Undone || !f.selects(p.Set) {
		return false
	}
	live := gpu.Live{PriorityClassName: p.PriorityClassName, Priority: f.PriorityClasses[p.PriorityClassName]}
	return f.spares(budget.Pod{Pod: gpu.Pod{Namespace: p.Namespace, Live: live}, Set: p.Set}) == ""
}

// sparedOwners are those that own a protected pod: that it only names them as its
// owners spares nobody's.
func (f *reach) sparedOwners() map[string]bool {
	spared := map[string]bool{}
	for _, p := range f.sparing() {
		if p.Of.Workload.Name != "" {
			spared[id(p.Of.Workload)] = true
		}
	}
	return spared
}

// id distinguishes workloads by name: what a pod says of its owner may lack more.
func id(w budget.Workload) string {
	group, _, _ := strings.Cut(w.APIVersion, "/")
	return w.Namespace + "/" + group + "/" + w.Kind + "/" + w.Name
}
