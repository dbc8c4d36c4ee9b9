package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
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
			of.Reasons = append(of.Reasons, c.Reason())
		}
		if of.By = drift.ChangedBy(live, of.Changes); len(of.By) > 0 {
			of.Reasons = append(of.Reasons, reason.LastWrittenBy(of.By))
		}
	}
	if spare, release := v.spare(); of.Replicas > 0 && of.Replicas < of.Was && len(spare)+len(release) > 0 {
		r.Decisions = append(r.Decisions, stockpool.Decision{
			Kind: stockpool.KindSpare, Was: of.Was, Replicas: of.Was, Spared: spare, Released: release,
			Reasons: reason.Reasons{reason.ScalingDown(reason.Count(of.Was), reason.Count(of.Replicas))},
		})
	}
	r.Decisions = append(r.Decisions, of)
	return t, r
}

func applyReasons(v View, t Tally) (stockpool.Kind, reason.Reasons) {
	d, j, was, to := v.Declaration, v.Journal, v.Observation.Replicas(), t.replicas
	paused, held := v.pausing(), v.growthBlockers()
	declared := reason.DeclarationChanged(reason.Count(d.Generation))
	switch {
	case paused != nil && was > 0 && j.PausedSince != nil:
		return stockpool.KindPause, reason.Reasons{reason.ScaledUp(), paused.Reason}
	case paused != nil && was > 0: // first, even if the API server refuses the rest
		return stockpool.KindPause, reason.Reasons{paused.Reason}
	case j.Applied == "" && !j.SyncedAt.IsZero():
		return stockpool.KindApply, append(reason.Reasons{reason.NewDeployment()}, held...)
	case j.Applied == "":
		return stockpool.KindApply, append(reason.Reasons{reason.NeverApplied()}, held...)
	case t.begun:
		return stockpool.KindApply, reason.Reasons{reason.InterruptedBegan()}
	case j.Applied != d.Hash(j.Container):
		return stockpool.KindApply, reason.Reasons{declared}
	case to == was && !t.kept.IsZero():
		return stockpool.KindApply, reason.Reasons{scaled(was > j.Replicas, reason.ScaledUp, reason.ScaledDown), t.kept}
	case j.Generation == d.Generation && to == was && held != nil:
		return stockpool.KindApply, append(reason.Reasons{scaled(was > j.Replicas, reason.ScaledUpHeld, reason.ScaledDownHeld)}, held...)
	case j.PausedSince != nil && to > was:
		return stockpool.KindResume, reason.Reasons{reason.NoBudgetPauses()}
	case j.Generation != d.Generation:
		return stockpool.KindScale, append(reason.Reasons{declared}, held...)
	case held != nil:
		return stockpool.KindScale, held
	case d.ReplicasPolicy == stockpool.ReplicasAvailable:
		return stockpool.KindScale, reason.Reasons{reason.ReplicasAvailable(reason.Count(v.taken()), reason.Count(d.Replicas))}
	}
	return stockpool.KindScale, reason.Reasons{reason.NoBudgetLimits()}
}

// scaled says how another process scaled the Deployment since the last application.
func scaled(grew bool, up, down func() reason.Reason) reason.Reason {
	if grew {
		return up()
	}
	return down()
}

// warnPaused warns of a paused rollout: no change reaches the pods.
func warnPaused(v View, t Tally) (_ Tally, r Result) {
	if of := v.Observation.Deployment; of.Spec.Paused {
		r.warn(reason.RolloutPaused(reason.Word(of.Name), reason.Word(of.Namespace)))
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
