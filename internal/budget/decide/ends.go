package decide

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// ends returns the events of requests that were observed to be done, and of ineffective ones. A stock pool
// reports its own pauses.
func (f requests) ends(outstanding []budget.Effect) (events []history.Event) {
	for _, e := range f.turned(outstanding) {
		events = append(events, endOf(&f.status, e, string(budget.Ineffective)))
	}
	for _, e := range f.previous.Effects {
		if !slices.ContainsFunc(outstanding, e.Same) && e.StockPool == "" && e.Reason.IsZero() && f.shown(e) {
			events = append(events, endOf(&f.status, e, history.Done))
		}
	}
	return events
}

// turned returns the effects that became ineffective, or were found to be out of reach, since the last status.
// Those that no status lists are not reported: each run would do so.
func (f requests) turned(outstanding []budget.Effect) (turned []budget.Effect) {
	for _, e := range (budget.Status{}).WithEffects(outstanding).Effects {
		was := slices.IndexFunc(f.previous.Effects, e.Same)
		known := was >= 0 && f.previous.Effects[was].Phase == budget.Ineffective
		if e.Phase == budget.Ineffective && !known && (was >= 0 || !e.Reason.IsZero()) {
			e.About = f.about(e)
			turned = append(turned, e)
		}
	}
	return turned
}

// about returns the object of an effect, or nil if it was not observed.
func (f requests) about(e budget.Effect) *budget.Workload {
	for _, p := range f.Pods {
		switch e.UID {
		case p.UID:
			return podObject(p)
		case p.Of.Workload.UID:
			return &p.Of.Workload
		}
	}
	return nil
}

func podObject(p budget.Pod) *budget.Workload {
	return &budget.Workload{Namespace: p.Namespace, Owner: ledger.Owner{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID}}
}

// requestedBy returns the requests of a run that was killed after it recorded what it was about to do.
func requestedBy(e history.Event) (effects []budget.Effect) {
	switch e.Kind {
	case history.Evict:
		for _, p := range e.Pods {
			effects = append(effects, budget.NewEffect(budget.Evict, "Pod "+p.String(), p.UID, nil, e.At))
		}
	case history.Pause:
		for _, w := range e.Workloads {
			kind, name, _ := strings.Cut(w.Name, "/")
			effects = append(effects, budget.NewEffect(budget.Pause, kind+" "+w.Namespace+"/"+name, w.UID, nil, e.At))
		}
	}
	return effects
}

// endOf returns the event of the end of an effect.
func endOf(s *budget.Status, e budget.Effect, how string) history.Event {
	kind, name, _ := strings.Cut(e.Object, " ")
	of := history.Identity{UID: e.UID}
	of.Namespace, of.Name, _ = strings.Cut(name, "/")
	about := aboutStatus(s)
	if e.Measure == budget.Freeze {
		return inForce(s)
	}
	if how != history.Done && (e.Measure == budget.Pause || !e.Reason.IsZero()) {
		if about.Reasons = e.Reasons(); e.StockPool != "" {
			about.Reasons = reason.Reasons{reason.EffectOfPool(reason.Workload(e.Object), reason.Object(e.StockPool), about.Reasons)}
		}
	}
	if e.Measure == budget.Evict {
		return about.Evicted(of, how)
	}
	of.Name = kind + "/" + of.Name
	return about.Paused(of, e.Since, how)
}

// shown reports whether this observation shows the requested effect. It can also be missing from the
// outstanding ones because it was not observed, or was undone.
func (f requests) shown(e budget.Effect) bool {
	switch e.Measure {
	case budget.Freeze:
		return f.Frozen && !f.Unseen && f.status.FrozenSince != nil
	case budget.Evict:
		return f.Owned && !f.unchanged(e)
	}
	pods, _ := f.withGPUs()
	leaving, lingering := f.terminating()
	pods = slices.Concat(pods, leaving, lingering)
	held := slices.ContainsFunc(f.own, func(p Paused) bool { return p.UID == e.UID && !p.Undone })
	return f.Owned && held && !slices.ContainsFunc(pods, func(p budget.Pod) bool { return p.Of.Workload.UID == e.UID })
}
