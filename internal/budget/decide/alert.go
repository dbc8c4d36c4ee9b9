package decide

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// alert decides to report the thresholds that are reached and were not reported, all at once.
func alert(f *facts) (r result) {
	var reached []int
	for _, threshold := range f.Declaration.Thresholds {
		if !slices.Contains(f.status.Fired, threshold) && f.comparePercent(threshold) >= 0 {
			reached = append(reached, threshold)
		}
	}
	if len(reached) > 0 {
		slices.Sort(reached)
		r.decide(budget.Decision{Kind: budget.KindAlert, Thresholds: reached, Namespaces: f.namespaces(), Reasons: f.outlook()})
	}
	return r
}

// firedThresholds returns the reported thresholds that have not re-armed. In a calendar period they re-arm when
// the next one begins. Otherwise they re-arm when usage falls well below, in a rolling window or after the
// limit was raised. None re-arms while usage is unknown.
func (f *facts) firedThresholds() []int {
	previous, of := f.previous, f.Declaration
	if of.Period != "" && previous.At.Before(f.usage.WindowStart) {
		return nil
	}
	kept := f.status.Unknown != nil || of.Period != "" && previous.Generation == of.Generation && previous.Usage.Limit == f.usage.Limit
	var fired []int
	for _, threshold := range previous.Fired {
		if slices.Contains(of.Thresholds, threshold) && (kept || f.comparePercent(threshold-budget.RearmBelow) > 0) {
			fired = append(fired, threshold)
		}
	}
	return fired
}

// comparePercent compares usage with a percentage of the limit, exactly.
func (f *facts) comparePercent(percent int) int {
	return compareProducts(f.usage.Consumed, 100, f.usage.Limit, int64(max(percent, 0)))
}

// compareProducts compares a·b with c·d, none of which is negative.
func compareProducts(a, b, c, d int64) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	otherHigh, otherLow := bits.Mul64(uint64(c), uint64(d))
	return cmp.Or(cmp.Compare(high, otherHigh), cmp.Compare(low, otherLow))
}

// outlook describes usage and what follows from it.
func (f *facts) outlook() reason.Reasons {
	reasons := reason.Reasons{f.used()}
	u := f.usage
	if u.BurnRate > 0 {
		pods, held := reason.Count(u.ActivePods), gpus(u.BurnRate)
		if at := u.ProjectedExhaustion; at != nil {
			reasons = append(reasons, reason.UsedUpBy(pods, held, reason.Instant{Time: *at}))
		} else {
			reasons = append(reasons, reason.InUse(pods, held))
		}
	}
	if !u.Exceeded() {
		return reasons
	}
	reasons = append(reasons, f.recovery()...)
	action := reason.Word(f.Declaration.Enforce.Action)
	switch at := f.status.EnforceAt; {
	case at == nil:
		return append(reasons, reason.AlertOnly())
	case !f.due:
		return append(reasons, reason.GraceLasts(reason.Instant{Time: *at}, action))
	}
	return append(reasons, reason.GraceOver(action))
}
