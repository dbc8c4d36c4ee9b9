package markets

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// ObservedPrice is the last price that was observed of a market in use, or at which it was launched in.
type ObservedPrice struct {
	spotpool.Market
	Price    spotpool.Price    `json:"hourly_price"`
	Currency spotpool.Currency `json:"currency,omitempty"`
	Since    time.Time         `json:"since"`
}

// Prices are those of the markets in use, by market.
type Prices []ObservedPrice

// Of returns the last price of a market; 0 if it is unknown.
func (list Prices) Of(m spotpool.Market) spotpool.Cost {
	for _, p := range list {
		if p.Market == m {
			return spotpool.Cost{Price: p.Price, Currency: p.Currency}
		}
	}
	return spotpool.Cost{}
}

// Launched records the price at which instances were launched, unless that of their market is known.
func (list Prices) Launched(m spotpool.Market, cost spotpool.Cost, at time.Time) Prices {
	if cost.Price == 0 || list.Of(m).Price > 0 {
		return list
	}
	return append(slices.Clone(list), ObservedPrice{Market: m, Price: cost.Price, Currency: cost.Currency, Since: at})
}

// Update records the prices of the markets of all instances, recorded or observed. It returns an
// event for each change where some run. A price that is missing from the offers stays. One in
// another currency is replaced without an event, if that is the declared one.
func (list Prices) Update(about history.About, recorded []spotpool.Market, instances []spotpool.Instance,
	offers map[spotpool.Market]spotpool.Offer, currency, declared spotpool.Currency,
) (Prices, []history.Event) {
	used, held := map[spotpool.Market]string{}, map[spotpool.Market]bool{} // used: with a subnet of each
	for _, m := range recorded {
		held[m] = true
	}
	for _, i := range instances {
		if i.State == spotpool.StateRunning && !i.Restricted {
			used[i.Market()], held[i.Market()] = i.SubnetID, true
		}
	}
	var updated Prices
	var events []history.Event
	for _, m := range slices.SortedFunc(maps.Keys(held), compare) {
		n := slices.IndexFunc(list, func(p ObservedPrice) bool { return p.Market == m })
		price := offers[m].Price
		switch {
		case n < 0 && price == 0:
			continue
		case n < 0:
			updated = append(updated, ObservedPrice{Market: m, Price: price, Currency: currency, Since: about.At})
			continue
		}
		p := list[n]
		if p.Currency != "" && p.Currency != currency && currency != declared { // of a pool that is destroyed by another connection
			updated = append(updated, p)
			continue
		}
		last := spotpool.Cost{Price: p.Price, Currency: p.Currency}.In(currency)
		if price != 0 && price != last {
			if subnet, runs := used[m]; runs && last > 0 {
				about.Reasons = reason.Reasons{reason.PriceWas(currency.Reason(last))}
				events = append(events, about.Priced(m.HistoryOffering(subnet), string(m.ChargeType), price.Text(), string(currency), p.Since))
			}
			p.Price, p.Since = price, about.At
		}
		if last > 0 || price != 0 {
			p.Currency = cmp.Or(currency, p.Currency)
		}
		updated = append(updated, p)
	}
	return updated, events
}

func compare(a, b spotpool.Market) int {
	return cmp.Or(cmp.Compare(a.AvailabilityZone, b.AvailabilityZone), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.ChargeType, b.ChargeType))
}
