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

// drainedForBudget has the pool want no instance once its budget has been exceeded for
// certain for longer than the grace: all that it holds is then above what it is to have,
// and nothing is launched or replaced. Minimum and maximum are those declared again as
// soon as the budget is not exceeded.
func (v View) drainedForBudget() View {
	d := &v.Declaration
	since := v.Journal.Exceeded.Since
	if since.IsZero() || v.Now.Before(since.Add(time.Duration(d.DrainGrace))) {
		return v
	}
	v.emptied = fmt.Sprintf("its budget %s has been exceeded for certain since %s, for longer than the %s of drain_grace", d.Budget, instant(since),
		d.DrainGrace)
	d.Minimum, d.Maximum, d.OnDemandBase, d.OnDemandFallback = 0, 0, 0, nil
	d.Refresh = Refresh{Strategy: RefreshNone}
	return v
}

// announceDrain warns that the budget ends all instances, now or soon.
func announceDrain(v View, t Tally) (Tally, Result) {
	var r Result
	d, since := v.Declaration, v.Journal.Exceeded.Since
	switch {
	case v.emptied != "":
		r.warnf("no instance is wanted: %s, and on_budget_exceeded is %q. They come back by themselves once the budget is no longer exceeded", v.emptied,
			d.OnBudgetExceeded)
	case !since.IsZero():
		r.warnf("%s. As on_budget_exceeded is %q, the pool's instances end from %s on, their nodes drained before, unless the budget is no longer "+
			"exceeded by then", v.Gate.Reason, d.OnBudgetExceeded, instant(since.Add(time.Duration(d.DrainGrace))))
	}
	return t, r
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
