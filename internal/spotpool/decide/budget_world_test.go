package decide_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// excess is since when a budget has been seen exceeded for certain, by the test's own
// count.
type excess struct{ since time.Time }

// broken says what a plan does wrong about a budget that may drain the pool. It is called with
// each plan, in order. An observation is lost if its run is killed before it writes anything.
func (e *excess) broken(s decide.Situation, p decide.Plan, lost bool) string {
	if before := e.since; lost {
		defer func() { e.since = before }()
	}
	d, certain := s.Declaration, s.Gate.Closed && s.Gate.Certain && !s.Gate.Unknown
	switch {
	case !certain || d.OnBudgetExceeded != spotpool.ExceededDrain:
		e.since = time.Time{}
	case e.since.IsZero():
		e.since = s.Now
	}
	drains := !e.since.IsZero() && s.Hold == nil && s.Now.Sub(e.since) >= time.Duration(d.BudgetGracePeriod)
	if p.Wanted != nil && !drains {
		return fmt.Sprintf("drained for a budget %+v, which was exceeded for certain since %s", s.Gate, e.since)
	}
	if p.Wanted == nil {
		return ""
	}
	if *p.Wanted != 0 || p.Shortfall != 0 || p.Minimum != d.Minimum || p.Maximum != d.Maximum {
		return fmt.Sprintf("%d are wanted, and counts are %+v", *p.Wanted, p.Counts)
	}
	for _, decision := range p.Decisions {
		if decision.Refresh || decision.Kind == spotpool.KindLaunch && !decision.Resume || len(p.Replacing) > 0 {
			return "while none is wanted: " + decision.Summary()
		}
	}
	return ""
}

// notDrained says what is left of a pool that its budget drained, and could be ended.
func (w *world) notDrained() string {
	for _, m := range decide.Decide(w.situation(decide.SoFar{})).Members {
		if m.State == spotpool.StateRunning && m.Protection() == "" && !m.Untagged && !w.refuses[m.ID] {
			return m.ID + " is left of a pool that its budget drained"
		}
	}
	return ""
}
