package spotpool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// trim ends what the pool holds above its maximum, and isolated instances that
// take the place of a replacement: they are to be destroyed anyway.
func (c *chooser) trim() {
	d := c.Declaration
	if surplus := c.held() - d.Maximum; surplus > 0 {
		ended := c.terminate(c.victims(c.terminable()), surplus, false,
			fmt.Sprintf("%d held is above maximum %d", c.plan.Held, d.Maximum))
		if ended < surplus {
			c.warnf("%d instances above maximum %d can't be ended now: they are protected, or still pending", surplus-ended, d.Maximum)
		}
	}
	missing := d.Minimum - c.prospects()
	if blocked := missing - (d.Maximum - c.held()); missing > 0 && blocked > 0 {
		isolated := slices.DeleteFunc(c.terminable(), func(m Member) bool { return m.Condition != Isolated })
		c.terminate(c.victims(isolated), blocked, false, "isolated by the cloud, and its place is needed for a replacement")
	}
}

func (c *chooser) terminable() []Member {
	return slices.DeleteFunc(slices.Clone(c.plan.Members), func(m Member) bool {
		return !m.terminable() || c.ending[m.ID]
	})
}

// terminate decides the end of the first n of the list.
func (c *chooser) terminate(list []Member, n int, refresh bool, reasons ...string) int {
	n = min(n, len(list))
	if n <= 0 {
		return 0
	}
	decision := Decision{Kind: Terminate, Object: c.Declaration.Object(), Count: n, Refresh: refresh, Reasons: reasons}
	if c.ending == nil {
		c.ending = map[string]bool{}
	}
	for _, m := range list[:n] {
		c.ending[m.ID] = true
		decision.InstanceIDs = append(decision.InstanceIDs, m.ID)
		decision.Reasons = append(decision.Reasons, m.ID+" is "+describe(m))
	}
	c.plan.Decisions = append(c.plan.Decisions, decision)
	return n
}

func describe(m Member) string {
	parts := []string{string(m.Condition)}
	if m.Outdated {
		parts = append(parts, "outdated")
	}
	return strings.Join(append(parts, fmt.Sprintf("%s in %s", m.InstanceType, m.AvailabilityZone)), ", ")
}

// victims puts instances in the order in which they are ended: what does not
// work, then outdated configurations, the dearest, those in the most crowded
// zone, the newest.
func (c *chooser) victims(list []Member) []Member {
	crowd := map[string]int{}
	for _, m := range c.plan.Members {
		if m.held() && !c.ending[m.ID] {
			crowd[m.AvailabilityZone]++
		}
	}
	rest := slices.Clone(list)
	order := make([]Member, 0, len(rest))
	for len(rest) > 0 {
		first := slices.MinFunc(rest, func(a, b Member) int {
			return cmp.Or(
				falseLast(!a.capacity(), !b.capacity()),
				falseLast(a.Outdated, b.Outdated),
				cmp.Compare(b.Price, a.Price),
				cmp.Compare(crowd[b.AvailabilityZone], crowd[a.AvailabilityZone]),
				b.LaunchedAt.Compare(a.LaunchedAt),
				cmp.Compare(a.ID, b.ID))
		})
		crowd[first.AvailabilityZone]--
		order = append(order, first)
		rest = slices.DeleteFunc(rest, func(m Member) bool { return m.ID == first.ID })
	}
	return order
}

func falseLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
