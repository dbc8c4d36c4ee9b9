package spotpools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// marketView is one look at a region's prices and stock.
type marketView struct {
	spotpool.Markets
	err error // why prices and stock are unknown
}

// warnings says what is unknown of a region's markets; the quota only where spot
// pools need it.
func (m marketView) warnings(region string, spot bool) []string {
	var texts []string
	if m.err != nil {
		texts = append(texts, fmt.Sprintf("prices and stock of %s are unknown: %v", region, m.err))
	}
	if quota := m.QuotaWarning(region); spot && quota != "" {
		texts = append(texts, quota)
	}
	return texts
}

// sharedMarkets is one look at a region's markets, which its pools share.
type sharedMarkets struct {
	mu    sync.Mutex
	view  *marketView
	taken time.Time
}

// marketsOf returns the region's prices and stock, at most a minute old.
func (o *cloudObserver) marketsOf(ctx context.Context, region string) marketView {
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
	if shared.view == nil || time.Since(shared.taken) > sharedFor {
		markets, err := o.Cloud.Markets(ctx, region)
		if err != nil && ctx.Err() != nil {
			return marketView{err: err}
		}
		shared.view, shared.taken = &marketView{Markets: markets, err: err}, time.Now()
	}
	return *shared.view
}

// forgetMarkets makes the next look ask for the region's prices, stock and quota
// anew.
func (o *cloudObserver) forgetMarkets(region string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.markets, region)
}

// add puts the prices and stock of the pool's own markets into an observation: a
// region sells in far more.
func (m marketView) add(o spotpool.Observation, d spotpool.Declaration) spotpool.Observation {
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
