package decide

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// size decides how many pods the Deployment must have now. That is what is declared, or no more
// than now while a budget limits it, or none while one pauses it. If usage is unknown, the pool
// neither grows nor pauses.
func size(v View, t Tally) (_ Tally, r Result) {
	d, has := v.Declaration, v.Observation.Replicas()
	if v.own() == nil {
		has = 0
	}
	to, held := d.DesiredReplicas(v.taken()), v.growthBlockers()
	if of := v.own(); of != nil && d.ReplicasPolicy == stockpool.ReplicasAvailable && v.used != nil && v.used.Matches(labels.Set(of.Spec.Template.Labels)) {
		// Replacements for them would be taken as well, up to the maximum.
		to = min(to, max(has, d.Replicas))
		r.warn(reason.SelectedByDefault(reason.NewValue(d.AllocatedSelector), reason.Word(of.Name), reason.Word(of.Namespace)))
	}
	t.unheld = to
	if held != nil {
		to = min(to, has)
	}
	if v.pausing() != nil {
		t.replicas = 0
	} else if t.replicas, t.kept = v.sparing(to, has); !t.kept.IsZero() {
		r.warn(t.kept)
	}
	t.journal = t.journal.RecordGate(d, held, v.Now)
	return t, r
}

// notePause records since when a budget pauses the pool, and which budgets count pods by more
// than the declaration. Once these pods are gone, nothing else shows it.
func notePause(v View, t Tally) (_ Tally, r Result) {
	own, has := v.own() != nil, v.Observation.Replicas()
	switch paused := v.pausing() != nil; {
	case paused && own && has == 0 && t.journal.PausedSince == nil:
		t.journal.PausedSince, t.journal.Pausing = new(v.Now), true
	case !paused && own && has > 0 && t.replicas <= has:
		t.journal.PausedSince, t.journal.Pausing = nil, false
	}
	t.journal.CountedBy = nil
	for _, c := range v.Covers {
		if c.ByPods && (c.Unknown || c.Exceeded) {
			t.journal.CountedBy = append(t.journal.CountedBy, c.Budget)
		}
	}
	names := v.holding()
	if t.journal.Pausing && len(names) == 0 && v.pausing() != nil && has == 0 {
		t.journal = t.journal.RecordPaused(v.Declaration, v.Now)
	}
	if n := len(names); n > 0 && v.pausing() != nil && v.Observation.Replicas() == 0 {
		r.warn(reason.PausedHolding(reason.Count(n), names))
	}
	return t, r
}

// sparing returns how many pods a scale-down leaves, and why it is more than it should be. An
// undeclared scale-down, after pods were released, waits as long as it would delete other pods
// in use. The maximum still holds. A new Deployment adopts the pods of a deleted one before
// anything is applied.
func (v View) sparing(to, has int) (stay int, kept reason.Reason) {
	d, j, own := v.Declaration, v.Journal, v.own()
	switch {
	case d.ReplicasPolicy != stockpool.ReplicasAvailable:
		return to, kept
	case j.Applied == "" && own != nil && own.Annotations[stockpool.AnnotationOpened] != "":
		return max(to, min(has, d.Maximum)), kept
	case to >= has || j.Applied == "" || j.Generation != d.Generation:
		return to, kept
	}
	least, why := v.fewest()
	if stay = max(to, min(least, has, d.Maximum)); stay > to {
		kept = reason.PodsKept(reason.Count(to), reason.Count(stay), why)
	}
	return stay, kept
}

// fewest returns how many pods a scale-down must leave so that it deletes none in use, and why
// it is more than those.
func (v View) fewest() (least int, why reason.Reason) {
	var used, idle []stockpool.Pod
	for _, p := range v.Observation.Pods {
		switch {
		case v.inUse(p):
			used = append(used, p)
		case !p.Ended():
			idle = append(idle, p)
		}
	}
	if len(used) == 0 || len(idle) == 0 {
		return len(used), why
	}
	if of := v.Observation.Deployment; of.Status.Replicas > of.Status.UpdatedReplicas {
		return len(used) + len(idle), reason.RolloutDeletesUsed()
	}
	byRank := func(a, b stockpool.Pod) int { return v.rank(a).compare(v.rank(b)) }
	first, last := slices.MinFunc(used, byRank), slices.MaxFunc(idle, byRank)
	var early reason.Names
	for _, p := range used {
		if byRank(p, last) <= 0 {
			early = append(early, p.Name)
		}
	}
	least = len(used)
	for _, p := range idle {
		if byRank(p, first) >= 0 {
			least++
		}
	}
	if least == len(used) {
		return least, why
	}
	slices.Sort(early)
	return least, reason.UsedDeletedFirst(reason.Count(len(early)), early)
}

// rank orders a pool's pods as a ReplicaSet does: it deletes pods of a lower rank first. The
// deletion cost comes last, and decides only between pods that are alike in the rest. See Less
// of ActivePodsWithRanks in pkg/controller/controller_utils.go of Kubernetes.
type rank [4]int

// rank assumes that exactly the pods in use are marked.
func (v View) rank(p stockpool.Pod) (r rank) {
	if p.Node != "" {
		r[0] = 1
	}
	r[1] = map[string]int{"Pending": 0, "Unknown": 1, "Running": 2}[p.Phase]
	if p.Ready {
		r[2] = 1
	}
	cost := p.DeletionCost
	switch used := v.inUse(p); {
	case used:
		cost = stockpool.SpareCost
	case cost == stockpool.SpareCost:
		cost = ""
	}
	if n, err := strconv.ParseInt(cost, 10, 32); err == nil {
		r[3] = int(n)
	}
	return r
}

func (r rank) compare(other rank) int { return slices.Compare(r[:], other[:]) }
