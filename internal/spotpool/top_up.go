package spotpool

import (
	"fmt"
	"strings"
	"time"
)

// topUp launches what is missing to the minimum: on-demand up to the base, the
// rest as declared, and on-demand again where spot has failed for long enough.
func (c *chooser) topUp() {
	missing := c.Declaration.Minimum - c.coming
	if missing <= 0 {
		return
	}
	reason := c.whyBelow()
	if why := c.heldBack(); why != "" {
		c.short("%s", why)
		return
	}
	if room := c.room(); room < missing {
		c.explainRoom(missing - room)
		missing = room
	}
	p := purpose{reasons: []string{reason}}
	missing -= c.fill(missing, c.byCharge[OnDemand], p)
	c.fallBack(missing, reason)
}

// heldBack says why nothing at all is launched now; empty where something may be.
func (c *chooser) heldBack() string {
	switch {
	case c.Gate.Closed:
		return c.Gate.Reason
	case len(c.doubtful) > 0:
		return c.contradicted()
	case c.Run.Halted != "":
		return c.Run.Halted
	}
	return ""
}

// contradicted says which instances may be the pool's or not; empty where none.
func (c *chooser) contradicted() string {
	if len(c.doubtful) == 0 {
		return ""
	}
	it := plural(len(c.doubtful), "it", "them")
	return fmt.Sprintf("%s %s this pool's uid, and what the cloud says of %s contradicts itself: nothing is launched beside %s. Look at %s in the console, and take the tag gpupool/uid off what is not the pool's", some(c.doubtful), plural(len(c.doubtful), "carries", "carry"), it, it, it)
}

// purpose is why something is launched.
type purpose struct {
	refresh bool
	reasons []string
}

func (p purpose) because(reason string) purpose {
	p.reasons = append(p.reasons[:len(p.reasons):len(p.reasons)], reason)
	return p
}

// fill decides launches of up to n instances: on-demand while onDemand of them
// are below the base, the rest as declared.
func (c *chooser) fill(n, onDemand int, p purpose) int {
	d := c.Declaration
	total := 0
	if base := min(n, d.OnDemandBase-onDemand); base > 0 && d.InstanceChargeType == Spot {
		total = c.launch(base, OnDemand, p.because(fmt.Sprintf("the on-demand base is %d", d.OnDemandBase)))
	}
	return total + c.launch(n-total, d.InstanceChargeType, p)
}

// fallBack launches on-demand instances for n that no spot offering could give,
// once that has gone on for long enough.
func (c *chooser) fallBack(n int, reason string) {
	d := c.Declaration
	f := d.OnDemandFallback
	if f == nil || n <= 0 || d.InstanceChargeType != Spot {
		return
	}
	since := c.plan.Journal.ShortSince
	if since.IsZero() {
		since = c.Now // short only once this plan is carried out
	}
	if due := since.Add(time.Duration(f.After)); c.Now.Before(due) {
		c.short("on-demand instances take over at %s", instant(due))
		return
	}
	standIns := max(0, c.byCharge[OnDemand]-d.OnDemandBase)
	if standIns >= f.Maximum {
		c.short("on_demand_fallback allows %d on-demand instances in place of spot ones, and %d %s there", f.Maximum, standIns, isAre(standIns))
		return
	}
	c.launch(min(n, f.Maximum-standIns), OnDemand, purpose{reasons: []string{
		reason, fmt.Sprintf("no spot instance could be had since %s, for longer than %s", instant(since), f.After),
	}})
}

// whyBelow says why the minimum is not reached.
func (c *chooser) whyBelow() string {
	var but []string
	if c.unseen > 0 {
		but = append(but, fmt.Sprintf("with %d more asked for", c.unseen))
	}
	if ending := c.plan.Capacity + c.unseen - c.coming; ending > 0 {
		but = append(but, fmt.Sprintf("less %d to be ended", ending))
	}
	if len(but) == 0 {
		return fmt.Sprintf("capacity %d is below minimum %d", c.plan.Capacity, c.Declaration.Minimum)
	}
	return fmt.Sprintf("capacity %d, %s, is below minimum %d", c.plan.Capacity, strings.Join(but, " and "), c.Declaration.Minimum)
}

// explainRoom says what keeps n instances from being launched.
func (c *chooser) explainRoom(n int) {
	d := c.Declaration
	held := c.plan.Held + c.launched
	if d.Maximum-held > d.MaxLaunchesPerRun-c.Run.Launched-c.launched {
		c.short("max_launches_per_run is %d: %d more to be launched by the next run", d.MaxLaunchesPerRun, n)
		return
	}
	c.short("%d held already, and maximum is %d: no room for %d more", held, d.Maximum, n)
}
