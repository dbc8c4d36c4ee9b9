package spotpool

import (
	"fmt"
	"maps"
)

// replace swaps instances that work for better ones: on-demand instances that
// stood in for spot ones, and outdated configurations by the refresh strategy.
// One step a run, an end or a launch ahead, so that each is seen to work before
// the next. What is ended below minimum is launched again like anything missing.
func (c *chooser) replace() {
	if c.heldBack() != "" || c.unseen > 0 || c.Run.Refreshed {
		return
	}
	enough := c.coming >= c.Declaration.Minimum
	if !c.backToSpot() {
		c.refresh()
	}
	if enough {
		c.topUp()
	}
}

// refresh replaces outdated instances.
func (c *chooser) refresh() {
	d := c.Declaration
	outdated := c.choose(func(m Member) bool { return m.Outdated && replaceable(m) })
	if d.Refresh.Strategy == RefreshNone || len(outdated) == 0 {
		return
	}
	s := swap{members: outdated, reason: "outdated configuration", batch: len(outdated)}
	for _, m := range c.plan.Members {
		if m.ChargeType == OnDemand && m.held() && !(m.Outdated && replaceable(m)) {
			s.onDemand++
		}
	}
	if d.Refresh.Strategy == RefreshRolling {
		s.surge, s.unavailable = d.Refresh.MaxSurge, d.Refresh.MaxUnavailable
		s.batch = max(1, s.surge+s.unavailable)
	}
	c.swap(s)
}

// backToSpot ends on-demand instances beyond the base once spot ones can take
// their place. Where maximum leaves no room for both, one is ended first.
func (c *chooser) backToSpot() bool {
	d := c.Declaration
	extra := c.byCharge[OnDemand] - d.OnDemandBase
	if d.OnDemandFallback == nil || d.InstanceChargeType != Spot || extra <= 0 || c.Observation.Offers == nil {
		return false
	}
	// Where an instance was just reclaimed, a working one is not given up for it.
	safe := false
	list, _ := c.candidates(Spot)
	for _, o := range list {
		safe = safe || o.avoided == ""
	}
	if !safe {
		return false
	}
	standIns := c.choose(func(m Member) bool { return m.ChargeType == OnDemand && replaceable(m) })
	s := swap{
		members: c.victims(standIns, extra), onDemand: d.OnDemandBase,
		surge: extra, batch: extra, reason: "spot instances can be had again in place of on-demand ones",
	}
	if d.Maximum <= c.plan.Held+c.launched {
		s.unavailable, s.batch = 1, 1
	}
	return c.swap(s)
}

// replaceable reports whether an instance may be swapped for another: it is
// settled, and nobody works on it, as someone does in rescue mode.
func replaceable(m Member) bool {
	return m.held() && m.expendable() && m.endable() && m.Condition != Unusable
}

// swap is a replacement of working instances.
type swap struct {
	members     []Member
	onDemand    int // how many on-demand instances stay
	surge       int // instances above minimum meanwhile
	unavailable int // instances below minimum meanwhile
	batch       int // how many are ended at once
	reason      string
}

// swap ends members that the pool can spare, or else launches replacements
// ahead where it may; it reports whether it decided anything. No instance that
// works is ended while the pool is short, or below minimum where nothing could
// be launched in its place.
func (c *chooser) swap(s swap) bool {
	if len(s.members) == 0 {
		return false
	}
	d := c.Declaration
	short := c.coming < d.Minimum
	batch, why := c.batchOf(s, short)
	c.terminate(batch, true, s.reason)
	if len(batch) > 0 {
		return true
	}
	above := c.coming - d.Minimum
	if ahead := min(s.surge-above, len(s.members)-above); ahead > 0 && !short {
		reason := fmt.Sprintf("launched ahead of ending %s: %s", some(ids(s.members)), s.reason)
		if c.fill(ahead, s.onDemand, purpose{refresh: true, reasons: []string{reason}}) > 0 {
			return true
		}
	}
	if above <= 0 {
		c.explainStandstill(s, why)
	}
	return false
}

// batchOf picks the members of a swap that are ended now. Where that needs a
// replacement afterwards and none could be launched, why says what is in the way.
func (c *chooser) batchOf(s swap, short bool) (batch []Member, why []string) {
	minimum, running, replaced := c.Declaration.Minimum, c.running, 0
	hopeless := map[Market]bool{}
	for _, m := range c.victims(s.members, len(s.members)) {
		works := m.Condition == Running && !m.Ending
		spared := works && (short || running <= minimum-s.unavailable)
		if len(batch) == s.batch || spared || hopeless[m.Market()] {
			continue
		}
		needed := !m.Ending && (!works || running <= minimum)
		if needed && works && c.Observation.Offers == nil {
			why = []string{fmt.Sprintf("%d to be replaced (%s): prices and stock are unknown, and what works is not given up for what may not be had", len(s.members), s.reason)}
			continue
		}
		if needed {
			missing, reasons := c.missingAfter(append(batch[:len(batch):len(batch)], m), replaced+1)
			if missing > 0 {
				hopeless[m.Market()], why = true, reasons
				continue
			}
			replaced++
		}
		if works {
			running--
		}
		batch = append(batch, m)
	}
	return batch, why
}

// missingAfter is how many of n replacements could not be launched once members
// are gone, with the quota, the cost and the room that their ends give back; and
// why. It tries what the runs to come will decide, on a copy.
func (c *chooser) missingAfter(ended []Member, n int) (int, []string) {
	trial := *c
	trial.plan.Decisions, trial.plan.Short, trial.seqTags = nil, nil, nil
	trial.byCharge, trial.byZone = maps.Clone(c.byCharge), maps.Clone(c.byZone)
	trial.asked, trial.vCPUs = maps.Clone(c.asked), maps.Clone(c.vCPUs)
	trial.Declaration.MaxLaunchesPerRun, trial.Run.Launched = c.launched+n, 0
	for _, m := range ended {
		trial.plan.Held--
		trial.byCharge[m.ChargeType]--
		trial.byZone[m.AvailabilityZone]--
		trial.spent -= c.costOf(m)
		if m.ChargeType == Spot {
			trial.vCPUs[m.AvailabilityZone] -= c.offers[m.Market()].VCPUs
		}
	}
	got := trial.fill(n, trial.byCharge[OnDemand], purpose{reasons: []string{"a trial"}})
	return n - got, trial.plan.Short
}

func ids(list []Member) []string {
	names := make([]string, len(list))
	for n, m := range list {
		names[n] = m.ID
	}
	return names
}

// explainStandstill says why nothing is replaced; why is what keeps replacements
// from being launched once their place is free.
func (c *chooser) explainStandstill(s swap, why []string) {
	d := c.Declaration
	for _, o := range why {
		c.short("%s", o)
	}
	switch {
	case len(why) > 0:
	case c.coming == d.Minimum && s.surge > 0 && c.room() == 0:
		c.short("%d to be replaced (%s), and %d held of maximum %d leave no room to launch first: raise maximum, or allow max_unavailable", len(s.members), s.reason, c.plan.Held, d.Maximum)
	case c.coming == d.Minimum && s.surge > 0 && s.unavailable == 0:
		c.short("%d to be replaced (%s), and nothing can be launched first: allow max_unavailable where what is ended makes room for it", len(s.members), s.reason)
	case s.surge == 0 && s.unavailable == 0:
		c.short("%d to be replaced (%s) once the pool is above its minimum", len(s.members), s.reason)
	default:
		c.short("%d to be replaced (%s) once more than %d are running, and %d %s", len(s.members), s.reason, d.Minimum-s.unavailable, c.running, isAre(c.running))
	}
}
