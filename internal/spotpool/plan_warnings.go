package spotpool

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// warn names what a person should look at: instances that are held and do no work,
// and instances that may be the pool's and are not counted as such.
func (p *planner) warn() {
	d := p.Declaration
	p.warnOf(func(m Member) bool { return m.Condition == Stuck }, func(ids string, n int) {
		p.warnf("%s %s been starting for longer than the launch timeout of %s: held, but no capacity. The cloud refuses to end what is starting; if this "+
			"goes on, open a ticket with it", ids, hasHave(n), d.LaunchTimeout)
	})
	p.warnOf(func(m Member) bool { return m.Condition == Restricted }, func(ids string, n int) {
		p.warnf("%s %s running but restricted (expired or isolated): held, but no capacity. Check the account's balance", ids, isAre(n))
	})
	p.warnOf(func(m Member) bool { return m.Condition == Stopped && !m.Ending }, func(ids string, n int) {
		p.warnf("%s %s stopped: held, but no capacity. Start or terminate what was stopped on purpose", ids, isAre(n))
	})
	p.warnOf(func(m Member) bool { return m.Condition == Unusable }, func(ids string, n int) {
		p.warnf("%s %s in a state that is no capacity, and held: nothing is done to instances in such a state", ids, isAre(n))
	})
	p.warnOf(func(m Member) bool { return m.ChargeType != Spot && m.ChargeType != OnDemand }, func(ids string, n int) {
		it := wording.Plural(n, "it", "them")
		p.warnf("%s %s paid for in another way by now: someone converted %s, so the pool counts %s and never ends %s. To let go, take the tag gpupool/uid off",
			ids, isAre(n), it, it, it)
	})
	p.warnOf(func(m Member) bool { return m.Untagged && p.Now.Sub(m.LaunchedAt) > TagLag }, func(ids string, n int) {
		p.warnf("%s still %s none of the pool's tags: held, and never ended by the pool. Tag with gpupool/uid = %s, or terminate", ids, hasHave(n), d.UID)
	})
	if why := p.contradicted(); why != "" && !p.noted(Reason{Text: why}) {
		p.warnf("%s", why)
	}
	if why := p.plan.Journal.WhyLost(); why != "" && !p.noted(Reason{Text: why}) {
		p.warnf("%s", why)
	}
	var others []string
	for _, i := range p.Observation.Instances {
		if d.UID != "" && i.PoolUID == d.UID && i.Region != "" && (i.AccountID != d.AccountID || i.Region != d.Region) {
			others = append(others, fmt.Sprintf("%s (account %s, %s)", i.ID, i.AccountID, i.Region))
		}
	}
	slices.Sort(others)
	if others = slices.Compact(others); len(others) > 0 {
		p.warnf("%s %s this pool's uid and not its account or region: left alone", wording.Some(others), wording.Plural(len(others), "carries", "carry"))
	}
	if p.unpriced != "" && d.MaxHourlyCost > 0 && p.Observation.Offers != nil {
		p.warnf("the price of %s is unknown and counts as nothing towards max_hourly_cost", p.unpriced)
	}
}

// warnOf gives one warning for all members that it concerns.
func (p *planner) warnOf(concerns func(Member) bool, say func(ids string, n int)) {
	var ids []string
	for _, m := range p.plan.Members {
		if concerns(m) && !p.ending[m.ID] {
			id := m.ID
			if m.Condition != Restricted && m.Condition != Stopped {
				id += " (" + string(m.State) + ")"
			}
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		say(wording.Some(ids), len(ids))
	}
}
