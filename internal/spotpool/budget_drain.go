package spotpool

import (
	"fmt"
	"time"
)

// Exceeded is since when a budget has been seen exceeded for certain, without a look
// in between that did not show so.
type Exceeded struct {
	Budget string    `json:"budget"`
	Since  time.Time `json:"since"`
}

// drainsForBudget reports whether a budget that stays exceeded ends the pool's instances.
func (d Declaration) drainsForBudget() bool {
	return d.OnBudgetExceeded == ExceededDrain && d.Budget != "" && d.Nodes != nil
}

// exceeded notes since when the pool's budget has been exceeded for certain. Where it
// is not, or that can't be told, the grace begins anew: what nobody knows ends no
// instances, and nobody knows what was in between. j must be a clone.
func (j *Journal) exceeded(d Declaration, g Gate, now time.Time) {
	switch {
	case !d.drainsForBudget() || !g.Closed || g.Unknown || !g.Certain:
		j.Exceeded = Exceeded{}
	case j.Exceeded.Budget != d.Budget:
		j.Exceeded = Exceeded{Budget: d.Budget, Since: now}
	}
}

// drainForBudget has the pool want no instance once its budget has been exceeded for
// certain for longer than the grace: all that it holds is then above what it is to have,
// and nothing is launched or replaced. Minimum and maximum are those declared again as
// soon as the budget is not exceeded.
func (p *planner) drainForBudget() {
	since := p.plan.Journal.Exceeded.Since
	if since.IsZero() {
		return
	}
	d := &p.Declaration
	due := since.Add(time.Duration(d.DrainGrace))
	if p.Now.Before(due) {
		p.warnf("%s. As on_budget_exceeded is %q, the pool's instances end from %s on, their nodes drained before, unless the budget is no longer "+
			"exceeded by then", p.Gate.Reason, d.OnBudgetExceeded, instant(due))
		return
	}
	p.emptied = fmt.Sprintf("its budget %s has been exceeded for certain since %s, for longer than the %s of drain_grace", d.Budget, instant(since),
		d.DrainGrace)
	p.warnf("no instance is wanted: %s, and on_budget_exceeded is %q. They come back by themselves once the budget is no longer exceeded", p.emptied,
		d.OnBudgetExceeded)
	d.Minimum, d.Maximum, d.OnDemandBase, d.OnDemandFallback = 0, 0, 0, nil
	d.Refresh = Refresh{Strategy: RefreshNone}
	p.plan.Wanted = new(0)
	p.plan.Shortfall = p.plan.missing()
}

func (v *validator) budgetDrain() {
	d := v.d
	v.duration("drain_grace", d.DrainGrace, "Write how long the budget may be exceeded before instances end, such as \"30m\".")
	if d.OnBudgetExceeded != ExceededDrain {
		return
	}
	if d.Budget == "" {
		v.Add("budget", "Name the budget, or set on_budget_exceeded to \"keep\".", "on_budget_exceeded is \"drain\", and the pool has no budget")
	}
	if d.Nodes == nil {
		v.Add("nodes", "Add a nodes block, so that the instances are nodes of the provider's cluster, or set on_budget_exceeded to \"keep\".",
			"on_budget_exceeded is \"drain\", and the pool has no nodes that could be drained")
	}
}

func (v *validator) budgetWarnings() {
	d := v.d
	if d.drainsForBudget() {
		v.Add("on_budget_exceeded", "Set it to \"keep\" to have them run on while nothing more is launched; the tag gpupool/protected keeps single instances.",
			"once the budget %s has been exceeded for %s, all instances of the pool end, each after its node was drained for at most %s", d.Budget,
			d.DrainGrace, d.Nodes.Drain.Timeout)
	}
}
