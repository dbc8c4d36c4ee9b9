package decide

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// candidate is an offering that may launch.
type candidate struct {
	index    int // its place in the declared order
	offering spotpool.Offering
	market   spotpool.Market
	listed   spotpool.Price // of the market, an hour; 0: unknown
	price    spotpool.Price // at most, an hour; 0: unknown
	currency spotpool.Currency
	batch    int      // the largest count to request
	smaller  obstacle // why the batch is not larger
	avoided  string   // why it is the last resort
}

// obstacle is why an offering cannot launch; the zero value is none.
type obstacle struct {
	code  spotpool.Code
	text  string
	until time.Time // when it ends; zero if that is unknown
}

// skipped is an offering that cannot launch, and why.
type skipped struct {
	candidate
	obstacle
}

func (p skipped) reason() spotpool.Reason {
	return spotpool.Reason{
		Code: p.code, Offering: &p.offering, ChargeType: p.market.ChargeType, Price: p.listed, Currency: p.currency, Until: p.until, Text: p.text,
	}
}

func (p skipped) String() string { return p.reason().String() }

// candidates returns the offerings that can launch, and those that cannot.
func candidates(v View, t Tally, charge spotpool.ChargeType) (list []candidate, passed []skipped) {
	for index, o := range v.Declaration.Offerings {
		c, why := consider(v, t, index, o, charge)
		if why.code != "" {
			passed = append(passed, skipped{c, why})
			continue
		}
		list = append(list, c)
	}
	return list, passed
}

// consider returns why an offering cannot launch now; no obstacle if it can.
func consider(v View, t Tally, index int, o spotpool.Offering, charge spotpool.ChargeType) (candidate, obstacle) {
	market := o.Market(charge)
	offer, sold := v.offers[market]
	c := candidate{
		index: index, offering: o, market: market, listed: offer.Price, price: v.priceOf(o, charge), currency: v.Declaration.Currency, batch: math.MaxInt,
	}
	if v.Observation.Offers != nil {
		switch {
		case !sold:
			return c, obstacle{code: spotpool.BecauseNotSold, text: "not sold: the zone does not offer it"}
		case offer.Stock == spotpool.StockNone:
			return c, obstacle{code: spotpool.BecauseSoldOut, text: "sold out: Tencent Cloud has no stock"}
		case charge == spotpool.Spot && o.SpotMaxPrice > 0 && offer.Price > o.SpotMaxPrice:
			return c, obstacle{code: spotpool.BecauseAboveMaxPrice, text: fmt.Sprintf("the market price of %s is above spot_max_price %s",
				v.Declaration.Currency.Hourly(offer.Price), o.SpotMaxPrice)}
		}
	}
	for _, cooldown := range t.cooldowns {
		switch {
		case !cooldown.Covers(o, charge):
		case cooldown.Cause == markets.CausedByBatch:
			if cooldown.Batch < c.batch {
				c.batch = cooldown.Batch
				c.smaller = obstacle{
					code: spotpool.BecauseBatch, until: cooldown.Until,
					text: fmt.Sprintf("no more than %d at once until %s (%s)", c.batch, wording.Instant(cooldown.Until), cooldown.Detail),
				}
			}
		case cooldown.Cause.Soft():
			c.avoided = cooldown.String()
		case cooldown.Cause == markets.CausedByQuota:
			return c, obstacle{code: spotpool.BecauseQuota, text: cooldown.String(), until: cooldown.Until}
		default:
			return c, obstacle{code: spotpool.BecauseCooldown, text: cooldown.String(), until: cooldown.Until}
		}
	}
	_, why := withinQuota(v, t, c, 1)
	return c, why
}

// best returns the candidate that launches first: avoided ones come last.
func best(v View, t Tally, list []candidate) candidate {
	return slices.MinFunc(list, func(a, b candidate) int {
		return cmp.Or(trueFirst(a.avoided == "", b.avoided == ""), prefer(v, t, a, b))
	})
}

// prefer orders candidates by the pool's strategy, and then in declared order.
func prefer(v View, t Tally, a, b candidate) int {
	by := 0
	switch v.Declaration.AllocationStrategy {
	case spotpool.LowestPrice:
		by = cmp.Or(trueFirst(a.price > 0, b.price > 0), cmp.Compare(a.price, b.price))
	case spotpool.Balanced:
		by = cmp.Compare(t.byZone[a.offering.AvailabilityZone], t.byZone[b.offering.AvailabilityZone])
	}
	return cmp.Or(by, cmp.Compare(a.index, b.index))
}

// fits returns how many of n launches a candidate can take. If it is none, the obstacle
// says why.
func fits(v View, t Tally, c candidate, n int) (int, obstacle) {
	if n = min(n, c.batch-t.asked[c.market]); n <= 0 {
		return 0, c.smaller
	}
	n, why := withinQuota(v, t, c, n)
	if n == 0 {
		return 0, why
	}
	return affordable(v, t, c, n)
}

// withinQuota returns how many of n launches the account's spot quota in the zone allows.
func withinQuota(v View, t Tally, c candidate, n int) (int, obstacle) {
	zone := c.offering.AvailabilityZone
	left, known := v.Observation.SpotVCPUs[zone]
	each := v.offers[c.market].VCPUs
	if !known || each <= 0 || c.market.ChargeType != spotpool.Spot {
		return n, obstacle{}
	}
	left = max(0, left-t.vCPUs[zone])
	if fits := left / each; fits < n {
		return fits, obstacle{code: spotpool.BecauseQuota, text: fmt.Sprintf("the account's spot quota in %s has %d vCPUs left, and one instance needs %d",
			zone, left, each)}
	}
	return n, obstacle{}
}

// affordable returns how many of n launches the pool's hourly cost cap allows. It is none
// if a price is unknown, since the cap might be exceeded.
func affordable(v View, t Tally, c candidate, n int) (int, obstacle) {
	limit := v.Declaration.MaxHourlyCost
	switch {
	case limit == 0:
		return n, obstacle{}
	case c.price == 0:
		return 0, obstacle{code: spotpool.BecausePriceUnknown, text: "its price is unknown, so max_hourly_cost could not be kept"}
	case v.unpriced != "":
		return 0, obstacle{code: spotpool.BecausePriceUnknown, text: "the price of " + v.unpriced + " is unknown, so max_hourly_cost could not be kept"}
	}
	left := max(0, limit-t.spent)
	return int(min(spotpool.Price(n), left/c.price)), obstacle{
		code: spotpool.BecauseHourlyCap,
		text: fmt.Sprintf("%s in addition to the pool's %s would exceed max_hourly_cost %s", v.Declaration.Currency.Hourly(c.price), t.spent, limit),
	}
}

// trueFirst sorts true before false.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
