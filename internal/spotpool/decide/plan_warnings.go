package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// warn warns of counted instances that do not work, and of instances that may be the
// pool's and are not counted.
func warn(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	of := func(concerns func(Member) bool, says func(reason.Names) reason.Reason) {
		if list := concerned(t, concerns); len(list) > 0 {
			r.warn(says(list))
		}
	}
	of(func(m Member) bool { return m.Condition == Stuck }, func(ids reason.Names) reason.Reason {
		return reason.LaunchTimeoutExceeded(ids, reason.Duration(d.LaunchTimeout))
	})
	of(func(m Member) bool { return m.Condition == Restricted }, reason.Restricted)
	of(func(m Member) bool { return m.Condition == Stopped && !m.Ending }, reason.Stopped)
	of(func(m Member) bool { return m.Condition == Unusable }, reason.UnknownState)
	of(func(m Member) bool { return m.ChargeType != spotpool.Spot && m.ChargeType != spotpool.OnDemand }, reason.OtherChargeType)
	of(func(m Member) bool { return m.Untagged && v.Now.Sub(m.LaunchedAt) > spotpool.TagLag }, func(ids reason.Names) reason.Reason {
		return reason.Untagged(ids, reason.Word(d.UID))
	})
	if len(v.doubtful) > 0 {
		r.warn(reason.AmbiguousInstances(v.doubtful))
	}
	if why := v.Journal.LossReason(); !why.IsZero() {
		r.warn(why)
	}
	var others []string
	for _, i := range v.Observation.Instances {
		if d.UID != "" && i.PoolUID == d.UID && i.Region != "" && (i.AccountID != d.AccountID || i.Region != d.Region) {
			others = append(others, fmt.Sprintf("%s (account %s, %s)", i.ID, i.AccountID, i.Region))
		}
	}
	slices.Sort(others)
	if others = slices.Compact(others); len(others) > 0 {
		r.warn(reason.OfOtherAccount(others))
	}
	if v.unpriced != "" && d.MaxHourlyCost > 0 {
		r.warn(reason.PricesUnknown(reason.Names{v.unpriced}))
	}
	return t, r
}

// concerned returns the members of a warning, with their states unless the warning has them.
func concerned(t Tally, concerns func(Member) bool) []string {
	var ids []string
	for _, m := range t.members {
		if concerns(m) && !t.leaving[m.ID] {
			id := m.ID
			if m.Condition != Restricted && m.Condition != Stopped {
				id += " (" + string(m.State) + ")"
			}
			ids = append(ids, id)
		}
	}
	return ids
}
