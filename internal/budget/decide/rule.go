package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// rule decides one thing about a budget by the facts.
type rule func(*facts) result

// rules returns the rules in their order: alerts, what is lifted, then freeze, pauses and evictions.
func (f *facts) rules() []rule {
	rules := []rule{warn, alert}
	if !f.keepReason().IsZero() {
		rules = append(rules, liftNothing)
	} else {
		rules = append(rules, unfreeze, resume)
	}
	action := f.Declaration.Enforce.Action
	if !f.Enforces() || !f.due {
		return rules
	}
	rules = append(rules, warnWaiting)
	if action == budget.Freeze || action == budget.Evict {
		rules = append(rules, freeze)
	}
	switch {
	case action == budget.Freeze:
	case !f.doubt().IsZero():
		rules = append(rules, withhold)
	case action == budget.Pause:
		rules = append(rules, pause)
	default:
		rules = append(rules, evictWaiting, evict, shorten)
	}
	return rules
}

// result is what a rule adds to a plan.
type result struct {
	// Decisions are in the order in which to carry them out.
	Decisions []budget.Decision
	// Reserves are further evictions, in order. Each replaces an eviction of Decisions that is
	// blocked.
	Reserves []budget.Decision
	// EnsureFreeze says that the freeze stays in force, and is repaired first: it may have been edited, or
	// its policy removed.
	EnsureFreeze bool
	// FreezeRecoversAt is the end that the freeze announces.
	FreezeRecoversAt time.Time
	// Undone are the workloads that were resumed manually and that the budget leaves running, to be recorded.
	Undone []budget.Workload

	// Ineffective are requests without effect that nothing follows.
	Ineffective []budget.Effect
	// Turned are the effects that are ineffective since this observation, for Kubernetes Events.
	Turned []budget.Effect

	awaited  []budget.Effect // requests whose pods still hold GPUs
	warnings reason.Reasons
	withheld reason.Reason // why something is not done, or not lifted
	running  int           // paused workloads that run again
}

// add adds the result of a later rule.
func (r *result) add(later result) {
	r.Decisions, r.Reserves = append(r.Decisions, later.Decisions...), append(r.Reserves, later.Reserves...)
	if r.EnsureFreeze = r.EnsureFreeze || later.EnsureFreeze; !later.FreezeRecoversAt.IsZero() {
		r.FreezeRecoversAt = later.FreezeRecoversAt
	}
	r.Undone, r.warnings, r.running = append(r.Undone, later.Undone...), append(r.warnings, later.warnings...), r.running+later.running
	r.Ineffective, r.awaited = append(r.Ineffective, later.Ineffective...), append(r.awaited, later.awaited...)
	if !later.withheld.IsZero() {
		r.withheld = later.withheld
	}
}

func (r *result) decide(d budget.Decision) { r.Decisions = append(r.Decisions, d) }

func (r *result) warn(of ...reason.Reason) { r.warnings = append(r.warnings, of...) }
