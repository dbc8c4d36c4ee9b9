package decide

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// rule decides one thing about a budget, by the facts, of which it changes none.
type rule func(*facts) result

// rules are those of a plan, in their order: alerts, what is lifted, then freeze, pauses
// and evictions.
func (f *facts) rules() []rule {
	rules := []rule{warn, alert}
	if f.whyUnlifted() != "" {
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
	case f.doubt() != "":
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
	// Decisions stand in the order in which they are to be carried out.
	Decisions []budget.Decision
	// Reserves are the evictions that take the place of those that are blocked,
	// in order: each eviction of Decisions that has no effect is replaced by the
	// next of these, and those without effect do not count.
	Reserves []budget.Decision
	// EnsureFreeze says that the freeze in force stays, and is to be made sure of
	// before anything else: someone may have edited it, or removed what it binds to.
	EnsureFreeze bool
	// FreezeRecoversAt is what a freeze that is made, or made sure of, names as its end.
	FreezeRecoversAt time.Time
	// Undone are the workloads that someone started again since the budget paused
	// them, and that it leaves so: that is to be noted.
	Undone []budget.Workload

	// Ineffective are what was requested in vain, and nothing comes after.
	Ineffective []budget.Effect

	awaited  []budget.Effect // what was requested, and whose pods still hold GPUs
	warnings []string
	withheld string // why something is not done, or not lifted
	running  int    // workloads that were paused, and run again
}

// add adds what a later rule decided.
func (r *result) add(later result) {
	r.Decisions, r.Reserves = append(r.Decisions, later.Decisions...), append(r.Reserves, later.Reserves...)
	if r.EnsureFreeze = r.EnsureFreeze || later.EnsureFreeze; !later.FreezeRecoversAt.IsZero() {
		r.FreezeRecoversAt = later.FreezeRecoversAt
	}
	r.Undone, r.warnings, r.running = append(r.Undone, later.Undone...), append(r.warnings, later.warnings...), r.running+later.running
	r.Ineffective, r.awaited = append(r.Ineffective, later.Ineffective...), append(r.awaited, later.awaited...)
	if later.withheld != "" {
		r.withheld = later.withheld
	}
}

func (r *result) decide(d budget.Decision) { r.Decisions = append(r.Decisions, d) }

func (r *result) warnf(text string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(text, args...))
}
