package decide

import (
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// effects returns the requested pauses, of this budget or of a stock pool, whose pods still hold GPUs, and
// what no pause reaches.
func (s *selection) effects() []budget.Effect {
	var list []budget.Effect
	for _, uid := range slices.Sorted(maps.Keys(s.missed)) {
		of := s.missed[uid]
		e := budget.Unreached(budget.Pause, of.object, uid, s.holding[uid], of.why, s.status.At)
		list = append(list, e.After(s.previous.Effects, s.status.At))
	}
	for _, uid := range slices.Sorted(maps.Keys(s.awaited)) {
		of := s.awaited[uid].Of
		e := budget.NewEffect(budget.Pause, of.Workload.String(), uid, s.holding[uid], s.status.At)
		e.StockPool = of.StockPool
		list = append(list, e.After(s.previous.Effects, s.status.At))
	}
	return append(list, s.ending(list)...)
}

// ending returns the requested pauses whose last pods are about to be gone. They have no effect yet, and are in time.
func (s *selection) ending(known []budget.Effect) (list []budget.Effect) {
	for _, p := range s.leaving {
		e := budget.NewEffect(budget.Pause, p.Of.Workload.String(), p.Of.Workload.UID, nil, s.status.At)
		e.StockPool = p.Of.StockPool
		if p.Of.Workload.Name == "" || !s.ends(p) || slices.ContainsFunc(known, e.Same) || slices.ContainsFunc(list, e.Same) {
			continue
		}
		e = e.After(s.previous.Effects, s.status.At)
		e.Phase = budget.Requested
		list = append(list, e)
	}
	return list
}

// requests are the facts about what was requested of the cluster.
type requests struct{ *facts }

// outstanding returns all effects that were not observed to be done: those found by a rule, evicted pods that
// still exist, and unobservable ones.
func (f requests) outstanding(awaited []budget.Effect) []budget.Effect {
	list := slices.Clone(awaited)
	for _, e := range f.previous.Effects {
		switch {
		case !e.Reason.IsZero() && !f.asks(budget.Evict, budget.Pause): // it was never done
		case e.Measure == budget.Evict && f.Owned && f.unchanged(e):
			list = append(list, e.After(nil, f.status.At))
		case e.Measure == budget.Evict && !f.Owned && f.asks(budget.Evict, budget.Pause), e.Measure == budget.Pause && f.unobserved(e):
			list = append(list, e)
		}
	}
	return list
}

// unchanged reports whether an evicted pod is unchanged.
func (f requests) unchanged(e budget.Effect) bool {
	return slices.ContainsFunc(f.Pods, func(p budget.Pod) bool { return p.UID == e.UID && p.End.Open() && p.Deletion == 0 })
}

// unobserved reports whether the workload of an effect must be paused, and whether it is was not
// observed.
func (f requests) unobserved(e budget.Effect) bool {
	switch held := slices.ContainsFunc(f.own, func(p Paused) bool { return p.UID == e.UID && !p.Undone }); {
	case !e.Reason.IsZero():
		return f.asks(budget.Pause) && (!f.Owned || !f.due || !f.doubt().IsZero())
	case e.StockPool == "" && !held, e.StockPool != "" && !f.asks(budget.Pause):
		return false
	case !f.Owned || !f.due || !f.doubt().IsZero() || !f.Enforces():
		return true
	case f.Declaration.Enforce.Action == budget.Evict: // which evicts its pods like any others
		left, _ := f.withGPUs()
		return len(left) > 0
	}
	return false
}

// effectsOf returns the outstanding effects after some of the decisions were carried out.
func (p Plan) effectsOf(done []budget.Decision) []budget.Effect {
	list, now := slices.Clone(p.effects), p.before.At
	for _, d := range done {
		var e budget.Effect
		switch d.Kind {
		case budget.KindFreeze:
			e = budget.NewEffect(budget.Freeze, "", "", nil, now)
		case budget.KindPause:
			e = budget.NewEffect(budget.Pause, d.Owner.String(), d.Owner.UID, d.Holding, now)
		case budget.KindEvict:
			e = budget.NewEffect(budget.Evict, "Pod "+d.Pod.String(), d.Pod.UID, []string{d.Pod.String()}, now)
		case budget.KindResume:
			list = slices.DeleteFunc(list, func(e budget.Effect) bool { return e.Measure == budget.Pause && e.UID == d.Owner.UID })
		}
		list = slices.DeleteFunc(list, func(was budget.Effect) bool { return !was.Reason.IsZero() && was.Same(e) })
		known := slices.ContainsFunc(list, e.Same)
		if e.Measure != "" && !known {
			list = append(list, e)
		}
	}
	return list
}

// fallsBack reports whether evictions follow pauses that have no effect. A freeze then lasts as long
// as the limit is reached, and blocks the replacements of evicted pods.
func (f *facts) fallsBack() bool {
	return f.asks(budget.Pause) && f.Declaration.Enforce.OnIneffective == budget.FallbackEvict
}

// ineffective returns the effects that were not observed in time.
func (f requests) ineffective(awaited []budget.Effect) []budget.Effect {
	return slices.DeleteFunc(f.outstanding(awaited), func(e budget.Effect) bool { return e.Phase != budget.Ineffective })
}

// fallBack decides what follows ineffective requests. If the declaration says so, it evicts pods and shortens
// the grace periods of terminating pods. That includes pods that no pause reaches, such as those whose
// workload was deleted. Otherwise the run fails for the budget.
func fallBack(f *facts, awaited []budget.Effect) (r result) {
	r.Ineffective = requests{f}.ineffective(awaited)
	if !f.fallsBack() {
		r.add(f.shorten(func(budget.Pod) bool { return false }))
		return r
	}
	left := map[string]budget.Effect{} // by the UID of the workload, or of the pod without one
	for _, e := range r.Ineffective {
		if e.Measure == budget.Pause {
			left[e.UID] = e
		}
	}
	of := func(p budget.Pod) (budget.Effect, bool) {
		if e, found := left[p.UID]; found {
			return e, true
		}
		e, found := left[p.Of.Workload.UID]
		return e, found
	}
	hurried := f.shorten(func(p budget.Pod) bool {
		_, found := of(p)
		return found || f.Owned && p.Of.Workload.Name == ""
	})
	pods, _ := f.withGPUs()
	victims := slices.DeleteFunc(pods, func(p budget.Pod) bool { _, found := of(p); return !found })
	followed := map[string]bool{}
	follow := func(p budget.Pod) { followed[p.UID], followed[p.Of.Workload.UID] = true, true }
	for _, p := range victims {
		follow(p)
	}
	for _, d := range hurried.Decisions {
		follow(*d.Pod)
	}
	cronJobs := false // they start no pods that a freeze lets in
	r.Ineffective = slices.DeleteFunc(r.Ineffective, func(e budget.Effect) bool {
		isCronJob := strings.HasPrefix(e.Object, "CronJob ")
		cronJobs = cronJobs || isCronJob
		return e.Measure == budget.Pause && (followed[e.UID] || !f.Owned || isCronJob)
	})
	waiting := f.evictWaiting(func(p budget.Pod) bool {
		_, _, why := f.outOfReach(p)
		return f.Owned && p.Of.StockPool == "" && !why.IsZero()
	})
	if len(victims) > 0 || len(waiting.Decisions) > 0 || cronJobs || f.Frozen {
		r.add(freeze(f))
	}
	r.add(waiting)
	evictions, reserves := f.evictions(victims)
	for _, list := range [][]budget.Decision{evictions, reserves} {
		for n := range list {
			e, _ := of(*list[n].Pod)
			why := reason.PauseIneffective(reason.Workload(e.Object))
			if !e.Reason.IsZero() {
				why = reason.NotPausable(e.Reason)
			}
			list[n].Reasons = append(list[n].Reasons, why)
			list[n].Rank = nil // it is no longer the last reason
		}
	}
	r.Decisions, r.Reserves = append(r.Decisions, evictions...), reserves
	r.add(hurried)
	return r
}
