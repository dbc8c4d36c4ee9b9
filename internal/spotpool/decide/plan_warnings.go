package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// warn warns of counted instances that do not work, and of instances that may be the
// pool's and are not counted.
func warn(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	of := func(concerns func(Member) bool, say func(ids string, n int)) {
		if list := concerned(t, concerns); len(list) > 0 {
			say(wording.Some(list), len(list))
		}
	}
	of(func(m Member) bool { return m.Condition == Stuck }, func(ids string, n int) {
		r.warnf("%s %s been starting for longer than the launch timeout of %s: counted in the total but not as capacity. Tencent Cloud does not "+
			"terminate starting instances: if this persists, open a ticket", ids, wording.Have(n), d.LaunchTimeout)
	})
	of(func(m Member) bool { return m.Condition == Restricted }, func(ids string, n int) {
		r.warnf("%s %s running but restricted (expired or isolated): counted in the total but not as capacity. Check the account's balance", ids,
			wording.Are(n))
	})
	of(func(m Member) bool { return m.Condition == Stopped && !m.Ending }, func(ids string, n int) {
		r.warnf("%s %s stopped: counted in the total but not as capacity. Start or terminate what was stopped on purpose", ids, wording.Are(n))
	})
	of(func(m Member) bool { return m.Condition == Unusable }, func(ids string, n int) {
		r.warnf("%s %s in a state that gpupool does not handle: counted in the total but not as capacity, and never terminated", ids, wording.Are(n))
	})
	of(func(m Member) bool { return m.ChargeType != spotpool.Spot && m.ChargeType != spotpool.OnDemand }, func(ids string, n int) {
		it := wording.Plural(n, "it", "them")
		r.warnf("%s %s another charge type now: the pool counts %s and never terminates %s. To detach %s, remove the tag gpupool/uid", ids, wording.Have(n),
			it, it, it)
	})
	of(func(m Member) bool { return m.Untagged && v.Now.Sub(m.LaunchedAt) > spotpool.TagLag }, func(ids string, n int) {
		r.warnf("%s still %s none of the pool's tags: counted in the total, and never terminated by the pool. Set the tag gpupool/uid = %s, or terminate",
			ids, wording.Have(n), d.UID)
	})
	if why := v.ambiguousInstances(); why != "" {
		r.warnf("%s", why)
	}
	if why := v.Journal.LossReason(); why != "" {
		r.warnf("%s", why)
	}
	var others []string
	for _, i := range v.Observation.Instances {
		if d.UID != "" && i.PoolUID == d.UID && i.Region != "" && (i.AccountID != d.AccountID || i.Region != d.Region) {
			others = append(others, fmt.Sprintf("%s (account %s, %s)", i.ID, i.AccountID, i.Region))
		}
	}
	slices.Sort(others)
	if others = slices.Compact(others); len(others) > 0 {
		r.warnf("%s %s this pool's uid, but not its account or region: ignored", wording.Some(others), wording.Have(len(others)))
	}
	if v.unpriced != "" && d.MaxHourlyCost > 0 {
		r.warnf("the price of %s is unknown: nothing is launched, since max_hourly_cost could not be kept", v.unpriced)
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
