package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// recoverRun finds out whether a run that was cut short did what it was about to.
func recoverRun(v View, t Tally) (Tally, Result) {
	t.journal, t.begun = t.journal.Recovered(v.own())
	return t, Result{}
}

// apply has the Deployment be as declared. Where that leaves fewer pods, those in use are
// spared first.
func apply(v View, t Tally) (_ Tally, r Result) {
	live, would, j := v.Observation.Deployment, v.Observation.WouldBe, v.Journal
	of := stockpool.Decision{Was: v.Observation.Replicas(), Replicas: t.replicas}
	switch {
	case j.Applied != v.Declaration.Sum(j.Container) || j.Replicas != t.replicas || v.Refuses && v.pausing() != nil && of.Was > 0:
		of.Kind, of.Reasons = why(v, t)
	case !j.Drifted(live):
		return t, r
	case would == nil:
		return t, Result{Ask: true}
	default:
		of.Kind, of.Changes = stockpool.KindRevert, drift.Changes(live, would)
		if len(of.Changes) == 0 { // somebody changed what the pool has no word about
			t.journal = t.journal.Answered(live)
			return t, r
		}
		for _, c := range of.Changes {
			of.Reasons = append(of.Reasons, c.String())
		}
		if of.By = drift.ChangedBy(live, of.Changes); len(of.By) > 0 {
			of.Reasons = append(of.Reasons, "last written by "+strings.Join(of.By, ", "))
		}
	}
	if spare, release := v.spare(); of.Replicas > 0 && of.Replicas < of.Was && len(spare)+len(release) > 0 {
		r.Decisions = append(r.Decisions, stockpool.Decision{
			Kind: stockpool.KindSpare, Was: of.Was, Replicas: of.Was, Spared: spare, Released: release,
			Reasons: []string{fmt.Sprintf("%d pods are about to become %d", of.Was, of.Replicas)},
		})
	}
	r.Decisions = append(r.Decisions, of)
	return t, r
}

// why says why something else is to be applied than what was.
func why(v View, t Tally) (stockpool.Kind, []string) {
	d, j, was, to := v.Declaration, v.Journal, v.Observation.Replicas(), t.replicas
	paused, held := v.pausing(), v.heldBack()
	declared := fmt.Sprintf("its declaration changed (generation %d)", d.Generation)
	switch {
	case paused != nil && was > 0 && j.PausedSince != nil:
		return stockpool.KindPause, []string{"somebody scaled it up", paused.Reason}
	case paused != nil && was > 0: // first, whatever else is refused
		return stockpool.KindPause, []string{paused.Reason}
	case j.Applied == "":
		return stockpool.KindApply, append([]string{"nothing of the declaration was applied yet"}, held...)
	case t.begun:
		return stockpool.KindApply, []string{"a run that was cut short had begun with it"}
	case j.Applied != d.Sum(j.Container):
		return stockpool.KindApply, []string{declared}
	case to == was && t.kept != "":
		return stockpool.KindApply, []string{"somebody scaled it up", t.kept}
	case j.Generation == d.Generation && to == was && held != nil:
		return stockpool.KindApply, append([]string{"somebody scaled it down, and it may not grow back"}, held...)
	case j.PausedSince != nil && to > was:
		return stockpool.KindResume, []string{"no budget has it paused any longer"}
	case j.Generation != d.Generation:
		return stockpool.KindScale, append([]string{declared}, held...)
	case held != nil:
		return stockpool.KindScale, held
	case d.ReplicasPolicy == stockpool.ReplicasAvailable:
		n := v.taken()
		return stockpool.KindScale, []string{fmt.Sprintf("%d of its pods %s in use, and %d more are to be available", n, isAre(n), d.Replicas)}
	}
	return stockpool.KindScale, []string{"no budget keeps it from growing any longer"}
}

// warnPaused warns of a rollout that somebody paused: no change reaches the pods.
func warnPaused(v View, t Tally) (_ Tally, r Result) {
	if of := v.Observation.Deployment; of.Spec.Paused {
		r.warnf("the rollout of its Deployment is paused, so changes of the declaration do not reach its pods: kubectl rollout resume deployment/%s -n %s",
			of.Name, of.Namespace)
	}
	return t, r
}

// spare names the pods in use that a scale-down would not spare yet, and those that it
// would spare although nobody uses them any longer.
func (v View) spare() (spare, release []string) {
	for _, p := range v.Observation.Pods {
		switch used := v.inUse(p); {
		case used && p.DeletionCost != stockpool.SpareCost:
			spare = append(spare, p.Name)
		case !used && !p.Ended() && p.DeletionCost == stockpool.SpareCost:
			release = append(release, p.Name)
		}
	}
	slices.Sort(spare)
	slices.Sort(release)
	return spare, release
}
