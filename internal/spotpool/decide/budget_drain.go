package decide

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// drainedForBudget has the pool want no instance once its budget has been exceeded for
// certain for longer than the grace: all that it holds is then above what it is to have,
// and nothing is launched or replaced. Minimum and maximum are those declared again as
// soon as the budget is not exceeded.
func (v View) drainedForBudget() View {
	d := &v.Declaration
	since := v.Journal.Exceeded.Since
	if since.IsZero() || v.Now.Before(since.Add(time.Duration(d.BudgetGracePeriod))) {
		return v
	}
	v.emptied = fmt.Sprintf("its budget %s has been exceeded for certain since %s, for longer than the %s of budget_grace_period", d.Budget,
		wording.Instant(since),
		d.BudgetGracePeriod)
	d.Minimum, d.Maximum, d.OnDemandBase, d.OnDemandFallback = 0, 0, 0, nil
	d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshNone}
	return v
}

// announceDrain warns that the budget ends all instances, now or soon.
func announceDrain(v View, t Tally) (_ Tally, r Result) {
	d, since := v.Declaration, v.Journal.Exceeded.Since
	switch {
	case v.emptied != "":
		r.warnf("no instance is wanted: %s, and on_budget_exceeded is %q. They come back by themselves once the budget is no longer exceeded", v.emptied,
			d.OnBudgetExceeded)
	case !since.IsZero():
		r.warnf("%s. As on_budget_exceeded is %q, the pool's instances end from %s on, their nodes drained before, unless the budget is no longer "+
			"exceeded by then", v.Gate.Reason, d.OnBudgetExceeded, wording.Instant(since.Add(time.Duration(d.BudgetGracePeriod))))
	}
	return t, r
}
