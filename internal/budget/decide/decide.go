package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Plan is the decisions about one budget, and its status after them.
type Plan struct {
	result
	// Status is the status to record if all Decisions are carried out; see Settle.
	Status budget.Status

	before budget.Status // if nothing is done
	unseen bool          // what is in force is unknown
	frozen bool
	paused int // workloads
	// effects are the outstanding ones if nothing is done; previous are those of the last status.
	effects, previous []budget.Effect
	fallsBack         bool
}

// Decide returns the decisions about a budget with their reasons. It depends on its arguments only: a
// plan, a dry run and a run decide the same. Destructive decisions need a second observation, of the
// current pods; it is nil before there is one.
func Decide(s Situation, second *Observation) Plan {
	if second != nil {
		s.Observation = *second
	}
	f := factsOf(s)
	var r result
	for _, rule := range f.rules() {
		r.add(rule(&f))
	}
	for _, list := range [][]budget.Decision{r.Decisions, r.Reserves} {
		for n := range list {
			list[n].Object = f.Declaration.Object()
		}
	}
	p := Plan{result: r, before: f.status, unseen: f.Unseen, frozen: f.Frozen, paused: f.paused() - r.running}
	p.before.Warnings, p.before.Withheld = r.warnings, r.withheld
	p.effects, p.previous, p.fallsBack = requests{&f}.outstanding(r.awaited), f.previous.Effects, f.fallsBack()
	p.Turned = requests{&f}.turned(p.effects)
	p.before.Unreported = append(p.before.Unreported, requests{&f}.ends(p.effects)...)
	p.Status = p.Settle(p.Decisions)
	return p
}

// Settle returns the status to record after some of the decisions or reserves were carried out. A
// threshold fires only with its alert. The actions of this run are requested: they are effects until
// a later observation shows them, and only then enforced.
func (p Plan) Settle(done []budget.Decision) budget.Status {
	s := p.before
	s.Fired = slices.Clone(s.Fired)
	frozen, paused, evicted := p.frozen, p.paused, false
	for _, d := range done {
		switch d.Kind {
		case budget.KindAlert:
			s.Fired = append(s.Fired, d.Thresholds...)
		case budget.KindFreeze:
			frozen = true
		case budget.KindUnfreeze:
			frozen = false
		case budget.KindResume:
			paused--
		case budget.KindEvict:
			evicted = true
		}
	}
	p.report(&s, done, frozen)
	effects := p.effectsOf(done)
	s = s.WithEffects(effects) // not all of them
	due := func(measure budget.Action) bool {
		return slices.ContainsFunc(effects, func(e budget.Effect) bool { return e.Measure == measure })
	}
	s.Fired = slices.Compact(slices.Sorted(slices.Values(s.Fired)))
	for _, measure := range []struct {
		action  budget.Action
		inForce bool
	}{{budget.Freeze, frozen && !due(budget.Freeze)}, {budget.Pause, paused > 0 && !due(budget.Pause)}, {budget.Evict, evicted}} {
		if measure.inForce {
			s.Enforced = append(s.Enforced, measure.action)
		}
	}
	return s
}
