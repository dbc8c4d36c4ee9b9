package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// recoverRun checks whether an interrupted run finished what it had begun.
func recoverRun(v View, t Tally) (Tally, Result) {
	t.journal, t.begun = t.journal.Recover(v.own())
	return t, Result{}
}

// apply brings the Deployment in sync. Before a scale-down it marks the pods in use, so that
// they are deleted last.
func apply(v View, t Tally) (_ Tally, r Result) {
	live, would, j := v.Observation.Deployment, v.Observation.WouldBe, v.Journal
	of := stockpool.Decision{Was: v.Observation.Replicas(), Replicas: t.replicas}
	switch {
	case j.Applied != v.Declaration.Hash(j.Container) || j.Replicas != t.replicas || v.Refuses && v.pausing() != nil && of.Was > 0:
		of.Kind, of.Reasons = applyReasons(v, t)
	case !j.Drifted(live):
		return t, r
	case would == nil:
		return t, Result{Ask: true}
	default:
		of.Kind, of.Changes = stockpool.KindRevert, drift.Changes(live, would)
		if len(of.Changes) == 0 { // only fields that the declaration does not set were changed
			t.journal = t.journal.RecordResponse(live)
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
			Reasons: []string{fmt.Sprintf("scaling from %d to %s", of.Was, wording.Count(of.Replicas, "pod"))},
		})
	}
	r.Decisions = append(r.Decisions, of)
	return t, r
}

func applyReasons(v View, t Tally) (stockpool.Kind, []string) {
	d, j, was, to := v.Declaration, v.Journal, v.Observation.Replicas(), t.replicas
	paused, held := v.pausing(), v.growthBlockers()
	declared := fmt.Sprintf("its declaration changed (generation %d)", d.Generation)
	switch {
	case paused != nil && was > 0 && j.PausedSince != nil:
		return stockpool.KindPause, []string{"it was scaled up", paused.Reason}
	case paused != nil && was > 0: // first, even if the API server refuses the rest
		return stockpool.KindPause, []string{paused.Reason}
	case j.Applied == "":
		return stockpool.KindApply, append([]string{"the declaration was never applied"}, held...)
	case t.begun:
		return stockpool.KindApply, []string{"an interrupted run began it"}
	case j.Applied != d.Hash(j.Container):
		return stockpool.KindApply, []string{declared}
	case to == was && t.kept != "":
		return stockpool.KindApply, []string{"it was scaled up", t.kept}
	case j.Generation == d.Generation && to == was && held != nil:
		return stockpool.KindApply, append([]string{"it was scaled down and may not grow"}, held...)
	case j.PausedSince != nil && to > was:
		return stockpool.KindResume, []string{"no budget pauses it"}
	case j.Generation != d.Generation:
		return stockpool.KindScale, append([]string{declared}, held...)
	case held != nil:
		return stockpool.KindScale, held
	case d.ReplicasPolicy == stockpool.ReplicasAvailable:
		n := v.taken()
		return stockpool.KindScale, []string{fmt.Sprintf("%d of its pods %s in use, and %d must be available", n, isOrAre(n), d.Replicas)}
	}
	return stockpool.KindScale, []string{"no budget limits it"}
}

// warnPaused warns of a paused rollout: no change reaches the pods.
func warnPaused(v View, t Tally) (_ Tally, r Result) {
	if of := v.Observation.Deployment; of.Spec.Paused {
		r.warnf("the rollout of its Deployment is paused, so changes of the declaration do not reach its pods: kubectl rollout resume deployment/%s -n %s",
			of.Name, of.Namespace)
	}
	return t, r
}

// spare returns the pods in use that are not marked yet, and the marked pods that are free
// again.
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
