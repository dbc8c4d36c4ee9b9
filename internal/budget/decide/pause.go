package decide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	leaving, lingering := f.terminating()
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
	s.leaving = leaving
	if n := len(s.loose); n > 0 {
		r.warn(reason.NotPaused(reason.Count(n), sorted(s.loose)))
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
	leaving []budget.Pod // deleted, and about to be gone
	// missed are the workloads, and the pods without one, that the pause does not reach.
	missed   map[string]missed
	owners   []budget.Decision
	loose    []reason.Item     // pods that are left running
	cronJobs map[string]string // UIDs of Jobs' CronJobs, by the Job's UID
	// restarted were paused and run again. Of them, running counts as paused, and left stay as they
	// are.
	restarted []reason.Item
	running   int
	left      []budget.Workload
}

// consider adds the workload of a pod. warnWaiting warns of waiting pods that cannot be stopped.
func (s *selection) consider(p budget.Pod) {
	w := p.Of.Workload
	object, uid, why := s.outOfReach(p)
	switch {
	case w.Name != "" && s.spared[id(w)]:
		if !p.Waits() {
			s.loose = append(s.loose, item(p, reason.OwnerProtected(reason.Workload(w.String()))))
		}
		return
	case w.Name != "" && p.Of.StockPool != "":
		if !p.Waits() {
			s.awaited[w.UID] = p
		}
		return
	case !why.IsZero() && !p.Waits():
		s.miss(p, object, uid, why)
		return
	case !why.IsZero():
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
	if refusal := s.refusal(w); !refusal.IsZero() && !p.Waits() && !p.Of.Stopped { // it is tried again
		s.miss(p, w.String(), w.UID, refusal)
	}
	var reasons reason.Reasons
	if p.Waits() {
		reasons = append(reasons, reason.PodsWait())
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
	case !c.Obstacle.IsZero():
		s.miss(p, w.String(), w.UID, c.Obstacle)
		return
	}
	s.choose(w, reason.StartsJobs())
}

// choose decides to pause a workload. One that was resumed manually is left running unless the declaration
// says otherwise.
func (s *selection) choose(w budget.Workload, more ...reason.Reason) {
	s.seen[w.UID] = true
	reasons := append(s.reasons(), more...)
	if s.ours[w.UID] || s.undone[w.UID] {
		s.restarted = append(s.restarted, reason.Item{Name: w.String()})
		if s.ours[w.UID] {
			s.running++
		}
		if !s.Declaration.Enforce.PausesAgain() {
			if s.ours[w.UID] {
				s.left = append(s.left, w)
			}
			return
		}
		reasons = append(reasons, reason.ResumedManually())
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
		if s.ends(p) {
			s.awaited[uid] = p
		}
	}
}

// ends reports whether a terminating pod is one of a workload that was paused.
func (s *selection) ends(p budget.Pod) bool {
	return p.Of.StockPool != "" || p.Of.Stopped && (s.ours[p.Of.Workload.UID] || s.undone[p.Of.Workload.UID])
}

// outOfReach returns why a pod ends by no pause, and the workload or the pod that is left running. The reason
// is zero if its workload can be paused.
func (f *reach) outOfReach(p budget.Pod) (object, uid string, why reason.Reason) {
	w := p.Of.Workload
	object, uid = "Pod "+p.String(), p.UID
	switch {
	case p.Owner == nil:
		why = reason.NoOwner()
	case w.Name == "":
		why = p.Of.Reason
	case f.foreign(p):
		why = reason.OtherTemplate(reason.Workload(w.String()))
	case !p.Of.Obstacle.IsZero() && !p.Of.Stopped:
		object, uid, why = w.String(), w.UID, p.Of.Obstacle
	}
	return object, uid, why
}

// refusal returns why the cluster refused the last pause of a workload; zero if it did not.
func (f *facts) refusal(w budget.Workload) reason.Reason {
	for _, e := range f.previous.Effects {
		if e.Measure == budget.Pause && e.UID == w.UID && e.Phase == budget.Ineffective {
			return e.Reason
		}
	}
	return reason.Reason{}
}

// missed is a workload or a pod that the pause does not reach.
type missed struct {
	object string
	why    reason.Reason
}

// miss records what the pause does not reach. While owners are unknown, that is all pods, and only a warning.
func (s *selection) miss(p budget.Pod, object, uid string, why reason.Reason) {
	if !s.Owned {
		s.loose = append(s.loose, item(p, why))
		return
	}
	s.missed[uid] = missed{object, why}
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
	n := reason.Count(len(s.restarted))
	if n == 0 {
		return
	}
	then := reason.LeftRunning
	if s.Declaration.Enforce.PausesAgain() {
		then = reason.PausedAgain
	}
	r.warn(then(n, sorted(s.restarted)))
}

// takeStopped decides to pause workloads that are already stopped, by an interrupted run of this
// budget or by another budget, whose pause may end earlier.
func (s *selection) takeStopped(r *result) {
	for _, p := range s.Paused {
		var why reason.Reason
		switch own := p.BudgetUID == s.Declaration.UID; {
		case s.seen[p.UID] || s.ours[p.UID]:
			continue
		case own && p.UnderWay && !p.Running:
			why = reason.InterruptedPause()
		case !own && !s.spared[id(p.Workload)] && s.covers(p):
			why = reason.PausedByOther()
		default:
			continue
		}
		s.seen[p.UID] = true
		r.decide(budget.Decision{Kind: budget.KindPause, Owner: &p.Workload, Reasons: append(s.reasons(), why)})
	}
}

// covers reports whether this budget would count the pods of a workload that another one paused, and
// may change them.
func (f *reach) covers(p Paused) bool {
	if p.Running || p.Undone || !f.selects(p.Set) {
		return false
	}
	live := gpu.Live{PriorityClassName: p.PriorityClassName, Priority: f.PriorityClasses[p.PriorityClassName]}
	return f.spares(budget.Pod{Pod: gpu.Pod{Namespace: p.Namespace, Live: live}, Set: p.Set}).IsZero()
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
