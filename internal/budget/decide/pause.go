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

// pause decides which workloads to pause. It skips those with a protected pod, and those that this budget
// already paused. A paused workload that was resumed manually is paused again only if the declaration says
// so.
func pause(f *facts) (r result) {
	pods := f.victims(&r, "pausing")
	s := &selection{facts: f, spared: f.sparedOwners(), ours: map[string]bool{}, undone: map[string]bool{}, seen: map[string]bool{},
		withGPUs: map[string]bool{}, waits: map[string][]string{}, holding: map[string][]string{}, awaited: map[string]budget.Pod{}}
	for _, p := range f.own {
		// A workload that another budget paused is paused here, too: that pause may end earlier.
		s.ours[p.UID], s.undone[p.UID] = s.ours[p.UID] || !p.UnderWay && !p.Undone, p.Undone
	}
	for _, p := range pods {
		s.withGPUs[p.Of.Workload.UID] = true
		s.holding[p.Of.Workload.UID] = append(s.holding[p.Of.Workload.UID], p.String())
	}
	lingering := f.lingering()
	for _, p := range lingering {
		// A deletion with a long grace period does not exempt the workload.
		if p.Of.Workload.Name != "" && !s.spared[id(p.Of.Workload)] {
			s.withGPUs[p.Of.Workload.UID] = true
			s.consider(p)
		}
	}
	waiting, _ := f.waiting()
	for _, p := range append(pods, waiting...) {
		s.consider(p)
	}
	s.await(lingering)
	if n := len(s.loose); n > 0 {
		slices.Sort(s.loose)
		r.warnf("%d %s be paused, and still %s: %s", n, wording.Plural(n, "pod cannot", "pods cannot"), wording.Plural(n, "counts", "count"),
			wording.Some(s.loose))
	}
	s.warnRestarted(&r)
	r.Undone, r.running = s.left, s.running
	// Workloads that only wait come first: they would start on the GPUs of the others.
	slices.SortFunc(s.owners, func(a, b budget.Decision) int {
		return cmp.Or(cmp.Compare(rank(s.withGPUs[a.Owner.UID]), rank(s.withGPUs[b.Owner.UID])), strings.Compare(id(*a.Owner), id(*b.Owner)))
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

// selection chooses what one budget pauses. Workloads are by UID.
type selection struct {
	*facts
	spared   map[string]bool // by the ID of a workload
	ours     map[string]bool // paused by this budget for certain
	undone   map[string]bool // resumed manually, and left running
	seen     map[string]bool
	withGPUs map[string]bool     // has pods with GPUs
	waits    map[string][]string // waiting pods of workloads without GPUs
	holding  map[string][]string // pods with GPUs
	// awaited has a pod of each workload whose pods were requested to terminate.
	awaited map[string]budget.Pod
	owners  []budget.Decision
	loose   []string // pods without a workload that can be paused
	// restarted were paused and run again. Of them, running counts as paused, and left stay as they
	// are.
	restarted []string
	running   int
	left      []budget.Workload
}

// consider adds the workload of a pod. warnWaiting warns of waiting pods that cannot be stopped.
func (s *selection) consider(p budget.Pod) {
	w := p.Of.Workload
	switch {
	case w.Name == "" && p.Waits(), p.Of.StockPool != "" && p.Waits():
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
	case p.Of.StockPool != "":
		s.awaited[w.UID] = p
		return
	case s.foreign(p):
		s.loose = append(s.loose, fmt.Sprintf("%s (the selector does not match the pod template of the %s)", p, w))
		return
	}
	if p.Waits() && !s.withGPUs[w.UID] {
		s.waits[w.UID] = append(s.waits[w.UID], p.UID)
	}
	paused := s.ours[w.UID] || s.undone[w.UID]
	if paused && p.Of.Stopped && !p.Waits() { // its pods are about to terminate
		s.awaited[w.UID] = p
	}
	if s.seen[w.UID] || paused && p.Of.Stopped {
		return
	}
	s.seen[w.UID] = true
	reasons := s.reasons()
	if p.Waits() {
		reasons = append(reasons, "its pods wait for GPUs, and would start once GPUs are free")
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
		reasons = append(reasons, "it was resumed manually since it was paused")
	}
	s.owners = append(s.owners, budget.Decision{Kind: budget.KindPause, Owner: &w, Reasons: reasons})
}

// await adds the deleted pods that still hold GPUs. Those of stopped workloads are waited for.
func (s *selection) await(lingering []budget.Pod) {
	for _, p := range lingering {
		if p.Of.Workload.Name == "" {
			continue
		}
		uid := p.Of.Workload.UID
		s.holding[uid] = append(s.holding[uid], p.String())
		if p.Of.StockPool != "" || p.Of.Stopped && (s.ours[uid] || s.undone[uid]) {
			s.awaited[uid] = p
		}
	}
}

// foreign reports whether the budget's selector excludes a workload's pod template. A pod that was
// made to name the workload as its owner does not pause the pods of others.
func (s *selection) foreign(p budget.Pod) bool {
	set := countedLabels(p)
	return set != nil && s.Declaration.Selector.Excludes(&ledger.LabelSet{
		Namespace: set.Namespace, Labels: ledger.LabelsOf(p.Of.Labels), NamespaceLabels: set.NamespaceLabels,
	})
}

// warnRestarted warns of paused workloads that run again.
func (s *selection) warnRestarted(r *result) {
	n := len(s.restarted)
	if n == 0 {
		return
	}
	then := "on_manual_resume = \"warn\" leaves it running"
	if s.Declaration.Enforce.PausesAgain() {
		then = "it is paused again"
	}
	slices.Sort(s.restarted)
	r.warnf("%d paused %s resumed manually, and %s GPUs: %s; %s", n, wording.Plural(n, "workload was", "workloads were"),
		wording.Plural(n, "its pods hold", "their pods hold"), wording.Some(s.restarted), then)
}

// takeStopped decides to pause workloads that are already stopped, by an interrupted run of this
// budget or by another budget, whose pause may end earlier.
func (s *selection) takeStopped(r *result) {
	for _, p := range s.Paused {
		reason := ""
		switch own := p.BudgetUID == s.Declaration.UID; {
		case s.seen[p.UID] || s.ours[p.UID]:
			continue
		case own && p.UnderWay && !p.Running:
			reason = "an interrupted run stopped it"
		case !own && !s.spared[id(p.Workload)] && s.covers(p):
			reason = "another budget paused it, and this one does, too"
		default:
			continue
		}
		s.seen[p.UID] = true
		r.decide(budget.Decision{Kind: budget.KindPause, Owner: &p.Workload, Reasons: append(s.reasons(), reason)})
	}
}

// covers reports whether this budget would count the pods of a workload that another one paused, and
// may change them.
func (f *reach) covers(p Paused) bool {
	if p.Running || p.Undone || !f.selects(p.Set) {
		return false
	}
	live := gpu.Live{PriorityClassName: p.PriorityClassName, Priority: f.PriorityClasses[p.PriorityClassName]}
	return f.spares(budget.Pod{Pod: gpu.Pod{Namespace: p.Namespace, Live: live}, Set: p.Set}) == ""
}

// sparedOwners returns the workloads that own a protected pod. A pod that only names one as its
// owner protects nothing.
func (f *reach) sparedOwners() map[string]bool {
	spared := map[string]bool{}
	for _, p := range f.sparing() {
		if p.Of.Workload.Name != "" {
			spared[id(p.Of.Workload)] = true
		}
	}
	return spared
}

// id identifies a workload by name: a pod's owner reference can lack the UID.
func id(w budget.Workload) string {
	group, _, _ := strings.Cut(w.APIVersion, "/")
	return w.Namespace + "/" + group + "/" + w.Kind + "/" + w.Name
}
