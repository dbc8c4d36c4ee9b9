package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// drainForBudget sets minimum and maximum to 0 once the budget has certainly been exceeded
// for longer than the grace period. Then nothing is launched or replaced, and all instances
// are a surplus. The declared numbers count again once the budget is not exceeded.
func (v View) drainForBudget() View {
	d := &v.Declaration
	since := v.Journal.Exceeded.Since
	if since.IsZero() || v.Now.Before(since.Add(time.Duration(d.BudgetGracePeriod))) {
		return v
	}
	v.drainReason = reason.BudgetExceededForLong(reason.Object("budget/"+d.Budget), reason.Instant{Time: since}, reason.Duration(d.BudgetGracePeriod))
	d.Minimum, d.Maximum, d.OnDemandBase, d.OnDemandFallback = 0, 0, 0, nil
	d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshNone}
	return v
}

// announceDrain warns that all instances are terminated for the budget, now or soon.
func announceDrain(v View, t Tally) (_ Tally, r Result) {
	d, since := v.Declaration, v.Journal.Exceeded.Since
	switch {
	case v.drains():
		r.warn(reason.DrainedByBudget(v.drainReason, reason.Word(d.OnBudgetExceeded)))
	case !since.IsZero():
		at := reason.Instant{Time: since.Add(time.Duration(d.BudgetGracePeriod))}
		r.warn(reason.DrainsForBudget(v.Gate.Reason, reason.Word(d.OnBudgetExceeded), at))
	}
	return t, r
}
