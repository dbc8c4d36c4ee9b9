package spotpool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// candidate is an offering that may launch.
type candidate struct {
	index    int // its place in the declared order
	offering Offering
	market   Market
	listed   Price    // of the market, an hour; 0: unknown
	price    Price    // at most, an hour; 0: unknown
	batch    int      // the most to ask for
	smaller  obstacle // why the batch is no larger
	avoided  string   // why it is launched in only where nothing else is left
}

// obstacle is what keeps an offering from launching; the zero value is none.
type obstacle struct {
	code  Code
	text  string
	until time.Time // when it ends by itself; zero where that is unknown
}

// passedOver is an offering that can't launch, and why.
type passedOver struct {
	*candidate
	obstacle
}

func (p passedOver) reason() Reason {
	return Reason{Code: p.code, Offering: &p.offering, ChargeType: p.market.ChargeType, Price: p.listed, Until: p.until, Text: p.text}
}

func (p passedOver) String() string { return p.reason().String() }

// candidates parts the offerings that can launch from those that can't.
func (p *planner) candidates(charge ChargeType) (list []*candidate, passed []passedOver) {
	for index, o := range p.Declaration.Offerings {
		found := p.candidate(index, o, charge)
		if why := p.consider(found); why.code != "" {
			passed = append(passed, passedOver{found, why})
			continue
		}
		list = append(list, found)
	}
	return list, passed
}

func (p *planner) candidate(index int, o Offering, charge ChargeType) *candidate {
	market := o.Market(charge)
	return &candidate{index: index, offering: o, market: market, listed: p.offers[market].Price, price: p.priceOf(o, charge), batch: math.MaxInt}
}

// consider says why an offering can't launch now; none where it can.
func (p *planner) consider(o *candidate) obstacle {
	if p.Observation.Offers != nil {
		offer, sold := p.offers[o.market]
		switch {
		case !sold:
			return obstacle{code: BecauseNotSold, text: "not sold there"}
		case offer.Stock == StockNone:
			return obstacle{code: BecauseSoldOut, text: "sold out"}
		case o.market.ChargeType == Spot && o.offering.MaxPrice > 0 && offer.Price > o.offering.MaxPrice:
			return obstacle{code: BecauseAboveMaxPrice, text: fmt.Sprintf("the market price %s is above max_price %s", offer.Price, o.offering.MaxPrice)}
		}
	}
	for _, cooldown := range p.plan.Journal.Cooldowns {
		switch {
		case !cooldown.covers(o.offering, o.market.ChargeType):
		case cooldown.Cause == CausedByBatch:
			if cooldown.Batch < o.batch {
				o.batch = cooldown.Batch
				o.smaller = obstacle{
					code: BecauseBatch, until: cooldown.Until,
					text: fmt.Sprintf("no more than %d at once until %s (%s)", o.batch, instant(cooldown.Until), cooldown.Detail),
				}
			}
		case cooldown.Cause.soft():
			o.avoided = cooldown.String()
		case cooldown.Cause == CausedByQuota:
			return obstacle{code: BecauseQuota, text: cooldown.String(), until: cooldown.Until}
		default:
			return obstacle{code: BecauseCooldown, text: cooldown.String(), until: cooldown.Until}
		}
	}
	_, why := p.withinQuota(o, 1)
	return why
}

// best picks the candidate that launches first: avoided ones come last.
func (p *planner) best(list []*candidate) *candidate {
	return slices.MinFunc(list, func(a, b *candidate) int {
		return cmp.Or(trueFirst(a.avoided == "", b.avoided == ""), p.prefer(a, b))
	})
}

// prefer orders candidates by the pool's strategy, and then as declared.
func (p *planner) prefer(a, b *candidate) int {
	by := 0
	switch p.Declaration.AllocationStrategy {
	case LowestPrice:
		by = cmp.Or(trueFirst(a.price > 0, b.price > 0), cmp.Compare(a.price, b.price))
	case Balanced:
		by = cmp.Compare(p.byZone[a.offering.AvailabilityZone], p.byZone[b.offering.AvailabilityZone])
	}
	return cmp.Or(by, cmp.Compare(a.index, b.index))
}

// fits is how many of n launches a candidate may take. Where that is none, the
// obstacle says why.
func (p *planner) fits(o *candidate, n int) (int, obstacle) {
	if n = min(n, o.batch-p.asked[o.market]); n <= 0 {
		return 0, o.smaller
	}
	n, why := p.withinQuota(o, n)
	if n == 0 {
		return 0, why
	}
	return p.affordable(o, n)
}

// withinQuota is how many of n the account's spot quota in the zone allows.
func (p *planner) withinQuota(o *candidate, n int) (int, obstacle) {
	zone := o.offering.AvailabilityZone
	left, known := p.Observation.SpotVCPUs[zone]
	each := p.offers[o.market].VCPUs
	if !known || each <= 0 || o.market.ChargeType != Spot {
		return n, obstacle{}
	}
	left = max(0, left-p.vCPUs[zone])
	if fits := left / each; fits < n {
		return fits, obstacle{code: BecauseQuota, text: fmt.Sprintf("the account's spot quota in %s has %d vCPUs left, and one instance needs %d", zone, left,
			each)}
	}
	return n, obstacle{}
}

// affordable is how many of n launches the pool's hourly cost cap allows. It is none
// where a price is unknown, since the cap could not be kept then.
func (p *planner) affordable(o *candidate, n int) (int, obstacle) {
	limit := p.Declaration.MaxHourlyCost
	switch {
	case limit == 0:
		return n, obstacle{}
	case o.price == 0:
		return 0, obstacle{code: BecausePriceUnknown, text: "its price is unknown, so max_hourly_cost could not be kept"}
	case p.unpriced != "" && p.Observation.Offers == nil:
		return 0, obstacle{code: BecausePriceUnknown, text: fmt.Sprintf("prices are unknown, that of %s among them, so max_hourly_cost "+
			"could not be kept", p.unpriced)}
	}
	left := max(0, limit-p.spent)
	return int(min(Price(n), left/o.price)), obstacle{
		code: BecauseHourlyCap,
		text: fmt.Sprintf("at %s CNY an hour beside %s already spent, max_hourly_cost %s would be passed", o.price, p.spent, limit),
	}
}

// trueFirst orders what a condition holds for before the rest.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
