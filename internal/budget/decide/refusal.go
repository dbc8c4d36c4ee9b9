package decide

import (
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Refuse returns the plan after the cluster refused to pause a workload or to evict a pod. A refused pause is
// ineffective at once. An eviction can be refused for a while, and a workload that a user stopped ends its pods
// by itself: these are waited for.
func (p Plan) Refuse(d budget.Decision, why error) Plan {
	e, refused := refusedEffect(d, why, p.before)
	if !refused {
		return p
	}
	e = e.After(p.previous, p.before.At)
	same := func(list []budget.Effect) bool {
		return slices.ContainsFunc(list, func(was budget.Effect) bool { return was.Same(e) && was.Phase == budget.Ineffective })
	}
	known := same(p.previous) || same(p.effects)
	p.effects = append(slices.DeleteFunc(slices.Clone(p.effects), e.Same), e)
	if e.Phase != budget.Ineffective {
		return p
	}
	if !slices.ContainsFunc(p.Ineffective, e.Same) && (!p.fallsBack || e.Measure == budget.Evict) {
		p.Ineffective = append(slices.Clip(p.Ineffective), e)
	}
	if !known {
		p.before.Unreported = append(slices.Clip(p.before.Unreported), endOf(&p.before, e, string(budget.Ineffective)))
		p.Turned = append(slices.Clip(p.Turned), e)
	}
	return p
}

// refusedEffect returns what a refusal leaves in effect; false if pods need no such record.
func refusedEffect(d budget.Decision, why error, s budget.Status) (e budget.Effect, refused bool) {
	var left *budget.NotPausedError
	var blocked *budget.EvictionBlockedError
	switch {
	case d.Kind == budget.KindPause && errors.As(why, &left):
		e = budget.Unreached(budget.Pause, d.Owner.String(), d.Owner.UID, d.Holding, left.Why, s.At)
		if left.Stopped {
			e.Phase = budget.Requested
		}
		e.About = d.Owner
		return e, !left.Gone && (len(d.Holding) > 0 || d.Owner.IsCronJob())
	case d.Kind == budget.KindEvict && errors.As(why, &blocked):
		e = budget.NewEffect(budget.Evict, "Pod "+d.Pod.String(), d.Pod.UID, []string{d.Pod.String()}, s.At).Refused(budget.Obstacle(blocked.Err.Error()))
		e.About = podObject(*d.Pod)
		return e, !d.Pod.Waits()
	}
	return e, false
}

// LeftIneffective returns the effects without anything that follows, after some decisions were carried out.
func (p Plan) LeftIneffective(done []budget.Decision) []budget.Effect {
	return slices.DeleteFunc(slices.Clone(p.Ineffective), func(e budget.Effect) bool {
		return slices.ContainsFunc(done, func(d budget.Decision) bool {
			return !e.Reason.IsZero() && (d.Kind == budget.KindPause && e.Measure == budget.Pause && d.Owner.UID == e.UID ||
				d.Kind == budget.KindEvict && e.Measure == budget.Evict && d.Pod.UID == e.UID)
		})
	})
}
