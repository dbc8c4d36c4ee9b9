package spotpool

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// launch decides launches of up to n instances, and returns how many it decided.
func (c *chooser) launch(n int, charge ChargeType, refresh bool, reasons ...string) int {
	n = min(n, c.room())
	total := 0
	candidates := c.candidates(charge, n > 0)
	for n > 0 && len(candidates) > 0 {
		c.order(candidates)
		best := candidates[0]
		count := min(n, best.limit, c.affordable(best.price, n))
		if c.Declaration.AllocationStrategy == Balanced && len(candidates) > 1 {
			count = min(count, 1)
		}
		if count <= 0 {
			if best.limit > 0 {
				c.plan.Short = append(c.plan.Short, c.explainCost(best))
			}
			candidates = candidates[1:]
			continue
		}
		c.add(best, count, charge, refresh, reasons)
		n -= count
		total += count
		candidates[0].limit -= count
		if candidates[0].limit == 0 {
			candidates = candidates[1:]
		}
	}
	return total
}

// candidate is an offering that may launch up to limit instances in this plan.
type candidate struct {
	index    int // place in the declared order
	offering Offering
	price    Price
	limit    int
	avoided  bool // a soft cool-down: only where nothing else is left
}

// candidates lists the offerings that can launch; with explain, the plan says
// why the others can't.
func (c *chooser) candidates(charge ChargeType, explain bool) []candidate {
	var list []candidate
	for index, o := range c.Declaration.Offerings {
		found, why := c.candidate(o, charge)
		if why != "" {
			if explain {
				c.plan.Short = append(c.plan.Short, fmt.Sprintf("%s in %s: %s", o.InstanceType, o.AvailabilityZone, why))
			}
			continue
		}
		found.index = index
		list = append(list, found)
	}
	return list
}

func (c *chooser) candidate(o Offering, charge ChargeType) (candidate, string) {
	found := candidate{offering: o, limit: MaxBatch}
	if charge == Spot {
		found.price = o.MaxPrice // until the market price is known
	}
	m := marketOf(o, charge)
	offer, sold := c.Observation.offer(m)
	if c.Observation.Offers != nil {
		switch {
		case !sold:
			return found, fmt.Sprintf("not sold as %s", charge)
		case offer.Stock == StockNone:
			return found, "sold out"
		case charge == Spot && o.MaxPrice > 0 && offer.Price > o.MaxPrice:
			return found, fmt.Sprintf("the market price %s is above max_price %s", offer.Price, o.MaxPrice)
		}
		found.price = offer.Price
	}
	for _, cooldown := range c.plan.Journal.Cooldowns {
		switch {
		case !cooldown.covers(m):
		case cooldown.Cause == CausedByBatch:
			found.limit = min(found.limit, cooldown.Batch)
		case cooldown.Cause.soft():
			found.avoided = true
		default:
			return found, fmt.Sprintf("cooling down until %s (%s, %s)", cooldown.Until.UTC().Format(time.RFC3339), cooldown.Cause, cooldown.Detail)
		}
	}
	if left, known := c.Observation.SpotVCPUs[o.AvailabilityZone]; known && charge == Spot && offer.VCPUs > 0 {
		fits := (left - c.vCPUsAskedFor(o.AvailabilityZone)) / offer.VCPUs
		if fits <= 0 {
			return found, fmt.Sprintf("the account's spot quota in %s has %d vCPUs left, and one needs %d", o.AvailabilityZone, max(0, left), offer.VCPUs)
		}
		found.limit = min(found.limit, fits)
	}
	return found, ""
}

// vCPUsAskedFor is what this plan's launches take of a zone's spot quota.
func (c *chooser) vCPUsAskedFor(zone string) int {
	n := 0
	for _, d := range c.plan.Decisions {
		if d.Kind == Launch && d.ChargeType == Spot && d.Offering.AvailabilityZone == zone {
			offer, _ := c.Observation.offer(marketOf(*d.Offering, Spot))
			n += d.Count * offer.VCPUs
		}
	}
	return n
}

// order sorts candidates by the pool's strategy, avoided ones last.
func (c *chooser) order(list []candidate) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		if a.avoided != b.avoided {
			if a.avoided {
				return 1
			}
			return -1
		}
		var by int
		switch c.Declaration.AllocationStrategy {
		case LowestPrice:
			by = cmp.Compare(knownFirst(a.price), knownFirst(b.price))
		case Balanced:
			by = cmp.Compare(c.crowd(a.offering.AvailabilityZone), c.crowd(b.offering.AvailabilityZone))
		}
		return cmp.Or(by, cmp.Compare(a.index, b.index))
	})
}

func knownFirst(p Price) Price {
	if p == 0 {
		return maxPriceWhole*priceUnit + 1
	}
	return p
}

// crowd counts the pool's instances in a zone, this plan's launches included.
func (c *chooser) crowd(zone string) int {
	n := 0
	for _, m := range c.plan.Members {
		if m.AvailabilityZone == zone && m.held() && !c.ending[m.ID] {
			n++
		}
	}
	for _, d := range c.plan.Decisions {
		if d.Kind == Launch && d.Offering.AvailabilityZone == zone {
			n += d.Count
		}
	}
	return n
}

// affordable is how many of n the pool's hourly cost cap allows. Where the cap
// is set and a price is unknown, none: the cap could not be kept.
func (c *chooser) affordable(price Price, n int) int {
	limit := c.Declaration.MaxHourlyCost
	if limit == 0 {
		return n
	}
	if price == 0 {
		return 0
	}
	return max(0, min(n, int((limit-c.spent())/price)))
}

// spent is the hourly price of what is held and of what this plan launches.
func (c *chooser) spent() Price {
	total := c.spending
	for _, m := range c.plan.Members {
		if m.held() && !c.ending[m.ID] {
			total += m.Price
		}
	}
	return total
}

func (c *chooser) explainCost(best candidate) string {
	if best.price == 0 {
		return fmt.Sprintf("%s in %s: its price is unknown, so max_hourly_cost could not be kept", best.offering.InstanceType, best.offering.AvailabilityZone)
	}
	return fmt.Sprintf("%s in %s: at %s an hour beside %s held already, max_hourly_cost %s would be passed",
		best.offering.InstanceType, best.offering.AvailabilityZone, best.price, c.spent(), c.Declaration.MaxHourlyCost)
}

// add decides one launch, or raises the count of one that goes to the same
// place for the same reason.
func (c *chooser) add(to candidate, n int, charge ChargeType, refresh bool, reasons []string) {
	c.launching += n
	c.spending += Price(n) * to.price
	for i := range c.plan.Decisions {
		d := &c.plan.Decisions[i]
		if d.Kind == Launch && !d.Resume && d.Refresh == refresh && *d.Offering == to.offering && d.ChargeType == charge && d.Reasons[0] == reasons[0] {
			d.Count += n
			d.Request.Count += n
			return
		}
	}
	sequence := c.plan.Journal.LastSequence + 1
	for _, d := range c.plan.Decisions {
		sequence = max(sequence, d.Sequence+1)
	}
	d := c.Declaration
	offering := to.offering
	if charge != Spot {
		offering.MaxPrice = 0
	}
	request := &Request{
		Region: d.Region, Pool: d.Name, UID: d.UID, Sequence: sequence, Token: Token(d.UID, sequence),
		Offering: offering, ChargeType: charge, Count: n, Configuration: d.Configuration,
		ConfigurationTag: ConfigurationTag(d.Configuration, offering, charge),
	}
	if to.price > 0 && c.Observation.Offers != nil {
		reasons = append(slices.Clone(reasons), fmt.Sprintf("at %s CNY an hour each", to.price))
	}
	c.plan.Decisions = append(c.plan.Decisions, Decision{
		Kind: Launch, Object: d.Object(), Count: n, Offering: &to.offering, ChargeType: charge,
		Sequence: sequence, Token: request.Token, Refresh: refresh, Reasons: reasons, Request: request,
	})
}
