package spotpool

import (
	"fmt"
	"slices"
)

// replace swaps instances that work for better ones: outdated configurations
// by the refresh strategy, and on-demand instances that stood in for spot ones.
func (c *chooser) replace() {
	if c.Gate.Closed || c.unseen > 0 {
		return
	}
	c.backToSpot()
	c.refresh()
}

// refresh replaces outdated instances, one batch a run.
func (c *chooser) refresh() {
	r := c.Declaration.Refresh
	if r.Strategy == RefreshNone || c.Run.Refreshed {
		return
	}
	outdated := slices.DeleteFunc(c.terminable(), func(m Member) bool { return !m.Outdated })
	swap := swap{members: outdated, charge: c.Declaration.InstanceChargeType, reason: "its configuration is outdated"}
	if r.Strategy == RefreshRolling {
		swap.surge, swap.unavailable = r.MaxSurge, r.MaxUnavailable
		swap.batch = max(1, r.MaxSurge+r.MaxUnavailable)
	} else {
		swap.batch = len(outdated)
	}
	c.swap(swap)
}

// backToSpot ends on-demand instances beyond the base once spot ones can take
// their place. Where maximum leaves no room for both, one is ended first.
func (c *chooser) backToSpot() {
	d := c.Declaration
	if d.OnDemandFallback == nil || d.InstanceChargeType != Spot {
		return
	}
	extra := c.heldOf(OnDemand) - d.OnDemandBase
	if extra <= 0 || c.Observation.Offers == nil {
		return
	}
	standIns := c.victims(slices.DeleteFunc(c.terminable(), func(m Member) bool { return m.ChargeType != OnDemand }))
	swap := swap{
		members: standIns[:min(extra, len(standIns))], charge: Spot, surge: extra, batch: extra,
		reason: "spot instances can be had again in place of on-demand ones",
	}
	if d.Maximum-c.held() <= 0 && c.prospects() <= d.Minimum {
		swap.unavailable, swap.batch = 1, 1
	}
	c.swap(swap)
}

// swap is a replacement of working instances.
type swap struct {
	members     []Member
	charge      ChargeType
	surge       int // instances above minimum meanwhile
	unavailable int // instances below minimum meanwhile
	batch       int // how many are ended at once
	reason      string
}

// swap ends members where the pool can spare them, and launches their
// replacements ahead where it may. What is ended below minimum is launched
// again by topUp.
func (c *chooser) swap(s swap) {
	if len(s.members) == 0 {
		return
	}
	available := len(c.candidates(s.charge, false)) > 0
	floor := c.Declaration.Minimum
	if available {
		floor -= s.unavailable
	}
	ended := 0
	for _, m := range c.victims(s.members) {
		spare := !m.capacity() && available || c.running() > floor && m.Condition == Running
		if ended == s.batch || !spare {
			break
		}
		ended += c.terminate([]Member{m}, 1, true, s.reason)
	}
	above := max(0, c.prospects()-c.Declaration.Minimum)
	ahead := min(s.surge-above, len(s.members)-ended-above)
	if ended == 0 && ahead > 0 {
		c.launch(ahead, s.charge, true, s.reason, fmt.Sprintf("%d to be replaced", len(s.members)))
	}
}

// running counts the instances that work now and are not about to be ended.
func (c *chooser) running() int {
	n := 0
	for _, m := range c.plan.Members {
		if m.Condition == Running && !c.ending[m.ID] {
			n++
		}
	}
	return n
}
