package markets_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

func TestPricesOfMarketsInUseAreKept(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	two := spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot}
	three := two
	three.AvailabilityZone = "ap-singapore-3"
	running := func(m spotpool.Market, state spotpool.State) spotpool.Instance {
		return spotpool.Instance{AvailabilityZone: m.AvailabilityZone, InstanceType: m.InstanceType, ChargeType: m.ChargeType, State: state}
	}
	both := []spotpool.Instance{running(three, spotpool.StateRunning), running(two, spotpool.StateRunning), running(two, spotpool.StateRunning)}
	offers := func(prices ...spotpool.Price) map[spotpool.Market]spotpool.Offer {
		return map[spotpool.Market]spotpool.Offer{two: {Price: prices[0]}, three: {Price: prices[1]}}
	}
	var list markets.Prices
	for name, step := range []struct {
		instances []spotpool.Instance
		offers    map[spotpool.Market]spotpool.Offer
		want      markets.Prices
		events    int
	}{
		{both, offers(7, 0), markets.Prices{{two, 7, noon}}, 0},
		{both, offers(7, 9), markets.Prices{{two, 7, noon}, {three, 9, noon.Add(time.Hour)}}, 0},
		{both, nil, markets.Prices{{two, 7, noon}, {three, 9, noon.Add(time.Hour)}}, 0}, // unknown
		{both, offers(8, 9), markets.Prices{{two, 8, noon.Add(3 * time.Hour)}, {three, 9, noon.Add(time.Hour)}}, 1},
		{both[:1], offers(9, 9), markets.Prices{{three, 9, noon.Add(time.Hour)}}, 0},
		{[]spotpool.Instance{running(three, spotpool.StateStopped)}, offers(9, 9), nil, 0},
	} {
		got, events := list.Update(history.About{At: noon.Add(time.Duration(name) * time.Hour), ObjectUID: "u"}, nil, step.instances, step.offers)
		if diff := cmp.Diff(step.want, got, cmpopts.EquateEmpty()); diff != "" || len(events) != step.events {
			t.Errorf("step %d: %d events, and (-want +got)\n%s", name, len(events), diff)
		}
		list = got
	}
	if list.Of(two) != 0 {
		t.Error("a market that is not in use has a price")
	}
}

// TestThePriceOfALaunchIsKept until another one is listed, also while no instance runs yet. That it
// changes before is no event.
func TestThePriceOfALaunchIsKept(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	market := spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot}
	list := markets.Prices(nil).Launched(market, 0, noon).Launched(market, 7, noon).Launched(market, 9, noon)
	if got := list.Of(market); got != 7 {
		t.Errorf("the price is %d, want that of the first launch", got)
	}
	about := history.About{At: noon.Add(time.Hour), ObjectUID: "u"}
	for price, want := range map[spotpool.Price]spotpool.Price{0: 7, 8: 8} {
		offers := map[spotpool.Market]spotpool.Offer{market: {Price: price}}
		if got, events := list.Update(about, []spotpool.Market{market}, nil, offers); got.Of(market) != want || len(events) > 0 {
			t.Errorf("listed at %d: %v, events %v", price, got, events)
		}
	}
	if got, _ := list.Update(about, nil, nil, nil); len(got) > 0 {
		t.Errorf("without instances: %v", got)
	}
}
