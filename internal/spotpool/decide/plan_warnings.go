package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// warn names what a person should look at: instances that are held and do no work,
// and instances that may be the pool's and are not counted as such.
func warn(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	of := func(concerns func(Member) bool, say func(ids string, n int)) {
		if list := concerned(t, concerns); len(list) > 0 {
			say(wording.Some(list), len(list))
		}
	}
	of(func(m Member) bool { return m.Condition == Stuck }, func(ids string, n int) {
		r.warnf("%s %s been starting for longer than the launch timeout of %s: held, but no capacity. The cloud refuses to end what is starting; if this "+
			"goes on, open a ticket with it", ids, wording.Have(n), d.LaunchTimeout)
	})
	of(func(m Member) bool { return m.Condition == Restricted }, func(ids string, n int) {
		r.warnf("%s %s running but restricted (expired or isolated): held, but no capacity. Check the account's balance", ids, wording.Are(n))
	})
	of(func(m Member) bool { return m.Condition == Stopped && !m.Ending }, func(ids string, n int) {
		r.warnf("%s %s stopped: held, but no capacity. Start or terminate what was stopped on purpose", ids, wording.Are(n))
	})
	of(func(m Member) bool { return m.Condition == Unusable }, func(ids string, n int) {
		r.warnf("%s %s in a state that is no capacity, and held: nothing is done to instances in such a state", ids, wording.Are(n))
	})
	of(func(m Member) bool { return m.ChargeType != spotpool.Spot && m.ChargeType != spotpool.OnDemand }, func(ids string, n int) {
		it := wording.Plural(n, "it", "them")
		r.warnf("%s %s paid for in another way by now: someone converted %s, so the pool counts %s and never ends %s. To let go, take the tag gpupool/uid off",
			ids, wording.Are(n), it, it, it)
	})
	of(func(m Member) bool { return m.Untagged && v.Now.Sub(m.LaunchedAt) > spotpool.TagLag }, func(ids string, n int) {
		r.warnf("%s still %s none of the pool's tags: held, and never ended by the pool. Tag with gpupool/uid = %s, or terminate", ids, wording.Have(n), d.UID)
	})
	if why := v.contradicted(); why != "" {
		r.warnf("%s", why)
	}
	if why := v.Journal.WhyLost(); why != "" {
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
		r.warnf("%s %s this pool's uid and not its account or region: left alone", wording.Some(others), wording.Plural(len(others), "carries", "carry"))
	}
	if v.unpriced != "" && d.MaxHourlyCost > 0 && v.Observation.Offers != nil {
		r.warnf("the price of %s is unknown and counts as nothing towards max_hourly_cost", v.unpriced)
	}
	return t, r
}

// concerned are the members that a warning is about, each with its state unless the
// warning has it.
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
