package spotpool

import (
	"fmt"
	"slices"
)

// launch decides launches of up to n instances, and returns how many it decided.
// Where that is fewer, the plan says what each offering was passed over for.
func (c *chooser) launch(n int, charge ChargeType, p purpose) int {
	n = min(n, c.room())
	if n <= 0 {
		return 0
	}
	list, passed := c.candidates(charge)
	total := 0
	for total < n && len(list) > 0 {
		best := c.best(list)
		count, why := c.fits(best, n-total)
		if count == 0 {
			passed = append(passed, passedOver{best, why})
			list = slices.DeleteFunc(list, func(other *candidate) bool { return other == best })
			continue
		}
		if c.Declaration.AllocationStrategy == Balanced && len(list) > 1 {
			count = 1
		}
		c.add(best, count, p, c.choice(best, list, passed))
		c.asked[best.offering.Market(charge)] += count
		total += count
	}
	if total < n {
		for _, o := range passed {
			c.short("%s", o)
		}
	}
	return total
}

// add decides a launch of n, or raises the count of one that goes to the same
// place for the same reasons.
func (c *chooser) add(to *candidate, n int, p purpose, choice []string) {
	c.launched += n
	c.reserve(to.offering, to.charge, n)
	for i := range c.plan.Decisions {
		d := &c.plan.Decisions[i]
		if d.Kind != Launch || d.Resume || d.Refresh != p.refresh || *d.Offering != to.offering || d.ChargeType != to.charge || d.Reasons[0] != p.reasons[0] {
			continue
		}
		more := min(n, MaxBatch-d.Count)
		d.Count += more
		d.Request.Count += more
		n -= more
	}
	for ; n > 0; n -= min(n, MaxBatch) {
		c.plan.Decisions = append(c.plan.Decisions, c.newLaunch(to, min(n, MaxBatch), p, choice))
	}
}

func (c *chooser) newLaunch(to *candidate, n int, p purpose, choice []string) Decision {
	c.sequence++
	d := c.Declaration
	offering := to.offering
	if to.charge != Spot {
		offering.MaxPrice = 0
	}
	request := &Request{
		Region: d.Region, Pool: d.Name, UID: d.UID, Sequence: c.sequence, SeqTag: c.freeSeqTag(), Token: Token(d.UID, c.plan.Journal.Salt, c.sequence),
		Offering: offering, ChargeType: to.charge, Count: n, Configuration: d.Configuration,
		ConfigurationTag: ConfigurationTag(d.Configuration, offering, to.charge),
	}
	return Decision{
		Kind: Launch, Object: d.Object(), Count: n, Offering: &to.offering, ChargeType: to.charge,
		Sequence: c.sequence, Token: request.Token, Refresh: p.refresh,
		Reasons: slices.Concat(p.reasons, choice), Request: request,
	}
}

// choice says why a launch goes where it goes: what it costs, and which
// offerings that would have come first were passed over.
func (c *chooser) choice(to *candidate, list []*candidate, passed []passedOver) []string {
	var reasons []string
	if price := c.offers[to.offering.Market(to.charge)].Price; price > 0 {
		reasons = append(reasons, fmt.Sprintf("%s CNY an hour each", price))
	}
	if to.avoided != "" {
		reasons = append(reasons, fmt.Sprintf("nothing else can launch, though %s", to.avoided))
	}
	var others []string
	for _, o := range passed {
		if c.Declaration.AllocationStrategy != Priority || o.index < to.index {
			others = append(others, o.String())
		}
	}
	for _, o := range list {
		if o.avoided != "" && to.avoided == "" && c.prefer(o, to) < 0 {
			others = append(others, fmt.Sprintf("%s: %s", o.offering.Market(o.charge), o.avoided))
		}
	}
	if len(others) > 0 {
		reasons = append(reasons, "passed over "+some(others))
	}
	return reasons
}

// freeSeqTag is the lowest value of the tag gpupool/seq that tells a new launch
// from all others that may show: open ones, instances that are recorded, listed or
// gone so lately that a listing may still have them. The cloud limits how many
// values a tag key may have over time, so they are used again.
func (c *chooser) freeSeqTag() int64 {
	if c.seqTags == nil {
		c.seqTags = map[int64]bool{}
		for _, i := range c.plan.Journal.Intents {
			c.seqTags[i.Request.SeqTag] = true
		}
		for _, k := range c.plan.Journal.Known {
			c.seqTags[k.SeqTag] = true
		}
		for _, m := range c.plan.Members {
			c.seqTags[m.SeqTag] = true
		}
		for _, p := range c.plan.Journal.Past {
			if c.Now.Sub(p.at()) <= TagLag {
				c.seqTags[p.SeqTag] = true
			}
		}
	}
	tag := int64(1)
	for c.seqTags[tag] {
		tag++
	}
	c.seqTags[tag] = true
	return tag
}
