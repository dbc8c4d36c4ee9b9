package spotpools

import (
	"context"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// marketObservation is one observation of a region's prices and stock.
type marketObservation struct {
	spotpool.Markets
	err error // why prices and stock are unknown
}

// warnings returns what is unknown of a region's markets; the quota only if spot pools need it.
func (m marketObservation) warnings(region string, spot bool) (list reason.Reasons) {
	if m.err != nil {
		list = append(list, reason.MarketsUnknown(reason.Word(region), reason.Failure(m.err)))
	}
	if m.QuotaUnknown != nil && spot {
		list = append(list, m.QuotaWarning(region))
	}
	return list
}

// sharedMarkets is one observation of a region's markets for all of its pools.
type sharedMarkets struct {
	mu          sync.Mutex
	observation *marketObservation
	taken       time.Time
}

// observeMarkets returns the region's prices and stock, at most a minute old.
func (o *cloudObserver) observeMarkets(ctx context.Context, region string) marketObservation {
	o.mu.Lock()
	if o.markets == nil {
		o.markets = map[string]*sharedMarkets{}
	}
	shared := o.markets[region]
	if shared == nil {
		shared = &sharedMarkets{}
		o.markets[region] = shared
	}
	o.mu.Unlock()

	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.observation == nil || time.Since(shared.taken) > sharedMaxAge {
		markets, err := o.Cloud.Markets(ctx, region)
		if err != nil && ctx.Err() != nil {
			return marketObservation{err: err}
		}
		shared.observation, shared.taken = &marketObservation{Markets: markets, err: err}, time.Now()
	}
	return *shared.observation
}

// forgetMarkets drops the observation of the region's prices, stock and quota.
func (o *cloudObserver) forgetMarkets(region string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.markets, region)
}

// add adds the prices and stock of the pool's own markets to an observation.
func (m marketObservation) add(o spotpool.Observation, d spotpool.Declaration) spotpool.Observation {
	if m.Offers == nil {
		return o
	}
	wanted := map[spotpool.Market]bool{}
	zones := map[string]bool{}
	for _, offering := range d.Offerings {
		wanted[offering.Market(spotpool.Spot).AnyCharge()] = true
		zones[offering.AvailabilityZone] = true
	}
	for _, i := range o.Instances {
		wanted[i.Market().AnyCharge()] = true
	}
	if unknown, ok := spotpool.AsCloudError(m.QuotaUnknown); ok {
		o.QuotaAway = unknown.Class == errorclass.Transient
	}
	o.Offers = []spotpool.Offer{}
	for _, offer := range m.Offers {
		if wanted[offer.AnyCharge()] {
			o.Offers = append(o.Offers, offer)
		}
	}
	for zone, left := range m.SpotVCPUs {
		if zones[zone] {
			if o.SpotVCPUs == nil {
				o.SpotVCPUs = map[string]int{}
			}
			o.SpotVCPUs[zone] = left
		}
	}
	return o
}
