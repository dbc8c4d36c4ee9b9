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
		withGPUs: map[string]bool{}, waits: map[string][]string{}, holding: map[string][]string{}, awaited: map[string]budget.Pod{},
		missed: map[string]missed{}, cronJobs: map[string]string{}}
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
	// CronJobs come before them: they would start more Jobs.
	slices.SortFunc(s.owners, func(a, b budget.Decision) int {
		return cmp.Or(cmp.Compare(rank(!a.Owner.IsCronJob()), rank(!b.Owner.IsCronJob())),
			cmp.Compare(rank(s.withGPUs[a.Owner.UID]), rank(s.withGPUs[b.Owner.UID])), strings.Compare(id(*a.Owner), id(*b.Owner)))
	})
	for _, decision := range s.owners {
		decision.Waiting, decision.Holding = s.waits[decision.Owner.UID], s.holding[decision.Owner.UID]
		decision.CronJob = s.cronJobs[decision.Owner.UID]
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
	// missed are the workloads, and the pods without one, that the pause does not reach.
	missed   map[string]missed
	owners   []budget.Decision
	loose    []string          // pods that are left running
	cronJobs map[string]string // UIDs of Jobs' CronJobs, by the Job's UID
	// restarted were paused and run again. Of them, running counts as paused, and left stay as they
	// are.
	restarted []string
	running   int
	left      []budget.Workload
}

// consider adds the workload of a pod. warnWaiting warns of waiting pods that cannot be stopped.
func (s *selection) consider(p budget.Pod) {
	w := p.Of.Workload
	object, uid, reason := s.outOfReach(p)
	switch {
	case w.Name != "" && s.spared[id(w)]:
		if !p.Waits() {
			s.loose = append(s.loose, fmt.Sprintf("%s (the %s has a protected pod)", p, w))
		}
		return
	case w.Name != "" && p.Of.StockPool != "":
		if !p.Waits() {
			s.awaited[w.UID] = p
		}
		return
	case reason != "" && !p.Waits():
		s.miss(p, object, uid, reason)
		return
	case reason != "":
		return
	}
	s.considerCronJob(p)
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
	if refusal := s.refusal(w); refusal != "" && !p.Waits() && !p.Of.Stopped { // it is tried again
		s.miss(p, w.String(), w.UID, refusal)
	}
	var reasons []string
	if p.Waits() {
		reasons = append(reasons, "its pods wait for GPUs, and would start once GPUs are free")
	}
	s.choose(w, reasons...)
}

// considerCronJob adds the CronJob of a pod's Job. A suspended one starts no more Jobs, also if a user suspended it.
func (s *selection) considerCronJob(p budget.Pod) {
	c := p.Of.CronJob
	if c == nil {
		return
	}
	w := c.Workload
	s.cronJobs[p.Of.Workload.UID] = w.UID
	switch {
	case c.Stopped || s.spared[id(w)] || s.seen[w.UID] || s.foreign(budget.Pod{Set: p.Set, Charged: p.Charged, Of: *c}):
		return
	case c.Obstacle != "":
		s.miss(p, w.String(), w.UID, c.Obstacle)
		return
	}
	s.choose(w, "it would start more Jobs")
}

// choose decides to pause a workload. One that was resumed manually is left running unless the declaration
// says otherwise.
func (s *selection) choose(w budget.Workload, more ...string) {
	s.seen[w.UID] = true
	reasons := append(s.reasons(), more...)
	if s.ours[w.UID] || s.undone[w.UID] {
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

// outOfReach returns why a pod ends by no pause, and the workload or the pod that is left running. The reason
// is empty if its workload can be paused.
func (f *reach) outOfReach(p budget.Pod) (object, uid, reason string) {
	w := p.Of.Workload
	object, uid = "Pod "+p.String(), p.UID
	switch {
	case p.Owner == nil:
		reason = budget.NoOwner
	case w.Name == "":
		reason = p.Of.Reason
	case f.foreign(p):
		reason = "the selector does not match the pod template of the " + w.String()
	case p.Of.Obstacle != "" && !p.Of.Stopped:
		object, uid, reason = w.String(), w.UID, p.Of.Obstacle
	}
	return object, uid, reason
}

// refusal returns why the cluster refused the last pause of a workload, or "".
func (f *facts) refusal(w budget.Workload) string {
	for _, e := range f.previous.Effects {
		if e.Measure == budget.Pause && e.UID == w.UID && e.Phase == budget.Ineffective {
			return e.Reason
		}
	}
	return ""
}

// missed is a workload or a pod that the pause does not reach.
type missed struct{ object, reason string }

// miss records what the pause does not reach. While owners are unknown, that is all pods, and only a warning.
func (s *selection) miss(p budget.Pod, object, uid, reason string) {
	if !s.Owned {
		s.loose = append(s.loose, fmt.Sprintf("%s (%s)", p, reason))
		return
	}
	s.missed[uid] = missed{object, reason}
}

// foreign reports whether the budget's selector excludes a workload's pod template. A pod that was
// made to name the workload as its owner does not pause the pods of others.
func (f *reach) foreign(p budget.Pod) bool {
	set := countedLabels(p)
	return set != nil && f.Declaration.Selector.Excludes(&ledger.LabelSet{
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
		if c := p.Of.CronJob; c != nil {
			spared[id(c.Workload)] = true
		}
	}
	return spared
}

// id identifies a workload by name: a pod's owner reference can lack the UID.
func id(w budget.Workload) string {
	group, _, _ := strings.Cut(w.APIVersion, "/")
	return w.Namespace + "/" + group + "/" + w.Kind + "/" + w.Name
}
