package decide

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// candidate is an offering that may launch.
type candidate struct {
	index    int // its place in the declared order
	offering spotpool.Offering
	market   spotpool.Market
	listed   spotpool.Price // of the market, an hour; 0: unknown
	price    spotpool.Price // at most, an hour; 0: unknown
	currency spotpool.Currency
	batch    int           // the largest count to request
	smaller  obstacle      // why the batch is not larger
	avoided  reason.Reason // why it is the last resort
}

// obstacle is why an offering cannot launch; the zero value is none.
type obstacle struct {
	code  spotpool.Code
	why   reason.Reason
	until time.Time // when it ends; zero if that is unknown
}

// skipped is an offering that cannot launch, and why.
type skipped struct {
	candidate
	obstacle
}

func (p skipped) reason() spotpool.Reason {
	return spotpool.Reason{
		Code: p.code, Offering: &p.offering, ChargeType: p.market.ChargeType, Price: p.listed, Currency: p.currency, Until: p.until, Why: p.why,
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
			return c, obstacle{code: spotpool.BecauseNotSold, why: reason.NotSold()}
		case offer.Stock == spotpool.StockNone:
			return c, obstacle{code: spotpool.BecauseSoldOut, why: reason.SoldOut()}
		case charge == spotpool.Spot && o.SpotMaxPrice > 0 && offer.Price > o.SpotMaxPrice:
			return c, obstacle{code: spotpool.BecauseAboveMaxPrice, why: reason.AboveSpotMaxPrice(v.amount(offer.Price), amountOf(o.SpotMaxPrice))}
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
					why: reason.SmallerBatch(reason.Count(c.batch), reason.Instant{Time: cooldown.Until}, reason.Word(cooldown.Detail)),
				}
			}
		case cooldown.Cause.Soft():
			c.avoided = cooldown.Reason()
		case cooldown.Cause == markets.CausedByQuota:
			return c, obstacle{code: spotpool.BecauseQuota, why: cooldown.Reason(), until: cooldown.Until}
		default:
			return c, obstacle{code: spotpool.BecauseCooldown, why: cooldown.Reason(), until: cooldown.Until}
		}
	}
	_, why := withinQuota(v, t, c, 1)
	return c, why
}

// best returns the candidate that launches first: avoided ones come last.
func best(v View, t Tally, list []candidate) candidate {
	return slices.MinFunc(list, func(a, b candidate) int {
		return cmp.Or(trueFirst(a.avoided.IsZero(), b.avoided.IsZero()), prefer(v, t, a, b))
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
		return fits, obstacle{code: spotpool.BecauseQuota, why: reason.QuotaUsedUp(reason.Word(zone), reason.Count(left), reason.Count(each))}
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
		return 0, obstacle{code: spotpool.BecausePriceUnknown, why: reason.PriceUnknown()}
	case v.unpriced != "":
		return 0, obstacle{code: spotpool.BecausePriceUnknown, why: reason.OtherPriceUnknown(reason.Names{v.unpriced})}
	}
	left := max(0, limit-t.spent)
	return int(min(spotpool.Price(n), left/c.price)), obstacle{
		code: spotpool.BecauseHourlyCap,
		why:  reason.AboveHourlyCap(v.amount(c.price), amountOf(t.spent), amountOf(limit)),
	}
}

// amount returns a price in the pool's currency, and amountOf one next to it, without the currency.
func (v View) amount(p spotpool.Price) reason.Price {
	return v.Declaration.Currency.Reason(p)
}

func amountOf(p spotpool.Price) reason.Price { return reason.Price{Amount: p.String()} }

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
