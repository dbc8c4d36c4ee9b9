package budget

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Plan is what is to be done because of one budget, and its status then.
type Plan struct {
	// Decisions are in the order in which they are to be done: alerts, what is
	// lifted, then freeze, suspensions and evictions.
	Decisions []Decision
	// Reserves are the evictions that take the place of those that are blocked,
	// in order: each eviction of Decisions that has no effect is replaced by the
	// next of these, and those without effect do not count.
	Reserves []Decision
	// EnsureFreeze says that the freeze in force stays, and is to be made sure of
	// before anything else: someone may have edited it, or removed what it binds to.
	EnsureFreeze bool
	// FreezeRecoversAt is what a freeze that is made, or made sure of, names as its end.
	FreezeRecoversAt time.Time
	// Undone are the workloads that someone started again since the budget paused
	// them, and that it leaves so: that is to be noted.
	Undone []Workload
	// Status is what to record if all of Decisions is done; see Settle.
	Status Status

	fired  []int           // of earlier runs
	untold []history.Event // whatever is done
	unseen bool            // what is in force
	// frozenSince is that of earlier runs.
	frozenSince *time.Time
	frozen      bool
	paused      int // workloads
}

// Decide says what is to be done because of a budget, and why. It is a function
// of its arguments alone: a plan, a dry run and a run decide the same. What is
// destructive is decided by a second look, at pods of now; nil before there is one.
func Decide(s Situation, second *Look) Plan {
	if second != nil {
		s.Look = *second
	}
	s.Declaration = s.Declaration.WithDefaults()
	d := &decider{Situation: s, usage: s.Result.Usage}
	d.report()
	d.alert()
	d.lift()
	if d.usage.Exceeded() {
		d.enforce()
	}
	d.plan.Status = d.plan.Settle(d.plan.Decisions)
	return d.plan
}

// Settle is the status to record where some of the decisions, or of the
// reserves, had their effect and the others had not: a threshold fires only with
// its alert, and only what is in force stands as enforced.
func (p Plan) Settle(done []Decision) Status {
	s := p.Status
	s.Fired = slices.Clone(p.fired)
	frozen, paused, evicted := p.frozen, p.paused, false
	for _, d := range done {
		switch d.Kind {
		case KindAlert:
			s.Fired = append(s.Fired, d.Thresholds...)
		case KindFreeze:
			frozen = true
		case KindUnfreeze:
			frozen = false
		case KindPause:
			paused++
		case KindResume:
			paused--
		case KindEvict:
			evicted = true
		}
	}
	p.tell(&s, done, frozen)
	s.Fired = slices.Compact(slices.Sorted(slices.Values(s.Fired)))
	s.Enforced = nil
	for _, measure := range []struct {
		action  Action
		inForce bool
	}{{Freeze, frozen}, {Pause, paused > 0}, {Evict, evicted}} {
		if measure.inForce {
			s.Enforced = append(s.Enforced, measure.action)
		}
	}
	return s
}

// decider is one Decide at work.
type decider struct {
	Situation
	usage Usage
	plan  Plan
	due   bool // the grace is over
	// matcher is that of the selector once it was asked for; nil where that is not
	// valid.
	matcher *Matcher
	asked   bool
}

func (d *decider) decide(decision Decision) {
	decision.Object = d.Declaration.Object()
	d.plan.Decisions = append(d.plan.Decisions, decision)
}

func (d *decider) warn(text string, args ...any) {
	d.plan.Status.Warnings = append(d.plan.Status.Warnings, fmt.Sprintf(text, args...))
}

// report fills in what the status says whatever is decided.
func (d *decider) report() {
	of, previous := d.Declaration, d.previous()
	now := d.Now.Truncate(time.Millisecond).UTC()
	s := &d.plan.Status
	*s = Status{
		Name: of.Name, UID: of.UID, Generation: of.Generation, Terms: of.Terms(), Counted: of.counted(), ClusterUID: of.ClusterUID,
		RunID: d.RunID, At: now, Usage: d.usage, ExceededSince: d.Result.ExceededSince,
		Grants:     d.Grants.InForce(d.Now),
		KnownSince: d.Result.KnownSince,
	}
	if d.usage.Exceeded() {
		s.ReportedAt, s.Certain = &now, d.certain()
		if since := d.Result.ExceededSince; previous.ReportedAt != nil && since != nil && !since.After(previous.At) {
			s.ReportedAt = previous.ReportedAt
		}
		if of.Enforce.Action != AlertOnly {
			at := d.graceEnds(*s.ReportedAt)
			s.EnforceAt, d.due = &at, !now.Before(at)
		}
	}
	s.Missing = d.missing()
	if s.Unknown = d.unknown(); s.Unknown != nil {
		s.ReportedAt = previous.ReportedAt // it has not recovered as far as is known
	}
	d.remember()
	d.plan.frozen = d.Frozen
	for _, p := range d.own() {
		if !p.Running && !p.Undone {
			d.plan.paused++
		}
	}
	d.doubtWarnings()
	for _, doubt := range d.SelectorDoubts {
		d.warn("%s", doubt)
	}
	if len(d.Result.Overlaps) > 0 && of.Enforce.Action != AlertOnly {
		d.warn("some of its pods count for %s as well: each budget enforces its own limit on them", wording.Some(d.Result.Overlaps))
	}
}

// previous is the last status of this very budget; zero where there is none.
func (d *decider) previous() Status {
	if d.Previous == nil || d.Previous.UID != d.Declaration.UID {
		return Status{}
	}
	return *d.Previous
}

// graceEnds is when enforcement may begin: the grace runs from the latest of the
// crossing, the publication of the limit, and the first run that reported it.
func (d *decider) graceEnds(reported time.Time) time.Time {
	from := reported
	if since := d.Result.ExceededSince; since != nil && since.After(from) {
		from = *since
	}
	if published := d.Declaration.Granted(d.Grants, d.Now).PublishedAt; published.After(from) {
		from = published
	}
	return from.Add(d.Declaration.Enforce.grace()).UTC()
}

// own are the workloads that this budget paused.
func (d *decider) own() []Paused {
	var own []Paused
	for _, p := range d.Paused {
		if p.BudgetUID == d.Declaration.UID {
			own = append(own, p)
		}
	}
	return own
}

// lift undoes what is in force and is not to be any longer.
func (d *decider) lift() {
	if d.liftsNothing() {
		d.keepFreeze()
		return
	}
	action := d.Declaration.Enforce.Action
	reason := fmt.Sprintf("its enforcement is %s now", action)
	if !d.usage.Exceeded() {
		reason = "usage is below the limit: " + d.used()
	}
	if d.Frozen && !(d.usage.Exceeded() && (action == Freeze || action == Evict)) {
		d.decide(Decision{Kind: KindUnfreeze, Namespaces: d.namespaces(), Reasons: []string{reason}})
	}
	if d.usage.Exceeded() && (action == Pause || action == Evict) {
		d.letGo()
		return
	}
	for _, p := range d.own() {
		d.decide(Decision{Kind: KindResume, Owner: &p.Workload, Reasons: []string{reason}})
	}
}

// keepFreeze repairs the freeze that stays in force. One for another selector than the
// declared one is left as it is: before usage is known, nothing more is frozen.
func (d *decider) keepFreeze() {
	if d.Frozen && !d.FreezeOutdated {
		d.plan.EnsureFreeze, d.plan.FreezeRecoversAt = true, tellRecovery(d.FreezeRecoversAt, d.usage.RecoversAt, d.Now)
	}
}

// letGo resumes what the budget paused and does not select any longer.
func (d *decider) letGo() {
	for _, p := range d.own() {
		if p.Set != nil && d.Declaration.Selector.excludes(p.Set) {
			d.decide(Decision{Kind: KindResume, Owner: &p.Workload, Reasons: []string{"the budget's selector does not match its pods any longer"}})
		}
	}
}

// enforce does what is declared once the grace is over.
func (d *decider) enforce() {
	action := d.Declaration.Enforce.Action
	if !d.due || action == AlertOnly {
		return
	}
	d.tellWaiting()
	if action == Freeze || action == Evict {
		d.freeze()
	}
	if action == Freeze {
		return
	}
	if doubt := d.doubt(); doubt != "" {
		d.plan.Status.Withheld = doubt
		d.warn("nothing is %s: %s", ended(action), doubt)
		return
	}
	if action == Pause {
		d.suspend()
	} else {
		d.evict()
	}
	d.hurry(action == Evict)
}

func (d *decider) freeze() {
	d.plan.FreezeRecoversAt = tellRecovery(d.FreezeRecoversAt, d.usage.RecoversAt, d.Now)
	if d.Frozen && !d.FreezeOutdated {
		d.plan.EnsureFreeze = true
		return
	}
	reasons := append(d.because(), d.recovery()...)
	if d.Frozen {
		reasons = append(reasons, "the freeze in force is for another selector than the declared one")
	}
	d.decide(Decision{Kind: KindFreeze, Namespaces: d.namespaces(), Reasons: reasons})
}

// ended names what an action does to pods.
func ended(a Action) string {
	if a == Pause {
		return "paused"
	}
	return "evicted"
}
