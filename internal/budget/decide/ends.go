package decide

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// ends returns the events of requests that were observed to be done, or not in time. A stock pool
// reports its own pauses.
func (f requests) ends(outstanding []budget.Effect) (events []history.Event) {
	for _, e := range f.previous.Effects {
		now := slices.IndexFunc(outstanding, func(of budget.Effect) bool { return of.Measure == e.Measure && of.UID == e.UID })
		switch {
		case now >= 0 && outstanding[now].Phase == budget.Ineffective && e.Phase == budget.Requested:
			events = append(events, f.end(outstanding[now], string(budget.Ineffective)))
		case now < 0 && e.StockPool == "" && f.shown(e):
			events = append(events, f.end(e, history.Done))
		}
	}
	return events
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

// end returns the event of the end of an effect.
func (f requests) end(e budget.Effect, how string) history.Event {
	kind, name, _ := strings.Cut(e.Object, " ")
	of := history.Identity{UID: e.UID}
	of.Namespace, of.Name, _ = strings.Cut(name, "/")
	about := aboutStatus(&f.status)
	switch e.Measure {
	case budget.Freeze:
		return inForce(&f.status)
	case budget.Evict:
		return about.Evicted(of, how)
	}
	if how != history.Done {
		about.Reasons = []string{strings.TrimPrefix(e.String(), e.Object+": ")}
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
	pods = append(pods, f.lingering()...)
	held := slices.ContainsFunc(f.own, func(p Paused) bool { return p.UID == e.UID && !p.Undone })
	return f.Owned && held && !slices.ContainsFunc(pods, func(p budget.Pod) bool { return p.Of.Workload.UID == e.UID })
}
