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
		{both, offers(7, 0), markets.Prices{{two, 7, "CNY", noon}}, 0},
		{both, offers(7, 9), markets.Prices{{two, 7, "CNY", noon}, {three, 9, "CNY", noon.Add(time.Hour)}}, 0},
		{both, nil, markets.Prices{{two, 7, "CNY", noon}, {three, 9, "CNY", noon.Add(time.Hour)}}, 0}, // unknown
		{both, offers(8, 9), markets.Prices{{two, 8, "CNY", noon.Add(3 * time.Hour)}, {three, 9, "CNY", noon.Add(time.Hour)}}, 1},
		{both[:1], offers(9, 9), markets.Prices{{three, 9, "CNY", noon.Add(time.Hour)}}, 0},
		{[]spotpool.Instance{running(three, spotpool.StateStopped)}, offers(9, 9), nil, 0},
	} {
		got, events := list.Update(history.About{At: noon.Add(time.Duration(name) * time.Hour), ObjectUID: "u"}, nil, step.instances, step.offers,
			"CNY", "CNY")
		if diff := cmp.Diff(step.want, got, cmpopts.EquateEmpty()); diff != "" || len(events) != step.events {
			t.Errorf("step %d: %d events, and (-want +got)\n%s", name, len(events), diff)
		}
		list = got
	}
	if list.Of(two).Price != 0 {
		t.Error("a market that is not in use has a price")
	}
}

// TestThePriceOfALaunchIsKept until another one is listed, also while no instance runs yet. That it
// changes before is no event.
func TestThePriceOfALaunchIsKept(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	market := spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot}
	paid := func(p spotpool.Price) spotpool.Cost { return spotpool.Cost{Price: p, Currency: "CNY"} }
	list := markets.Prices(nil).Launched(market, paid(0), noon).Launched(market, paid(7), noon).Launched(market, paid(9), noon)
	if got := list.Of(market); got != paid(7) {
		t.Errorf("the price is %v, want that of the first launch", got)
	}
	about := history.About{At: noon.Add(time.Hour), ObjectUID: "u"}
	for price, want := range map[spotpool.Price]spotpool.Price{0: 7, 8: 8} {
		offers := map[spotpool.Market]spotpool.Offer{market: {Price: price}}
		if got, events := list.Update(about, []spotpool.Market{market}, nil, offers, "CNY", "CNY"); got.Of(market) != paid(want) || len(events) > 0 {
			t.Errorf("listed at %d: %v, events %v", price, got, events)
		}
	}
	if got, _ := list.Update(about, nil, nil, nil, "CNY", "CNY"); len(got) > 0 {
		t.Errorf("without instances: %v", got)
	}
}

// TestPricesOfAnotherCurrencyAreReplaced without an event: the price did not change.
func TestPricesOfAnotherCurrencyAreReplaced(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	market := spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot}
	running := []spotpool.Instance{{
		AvailabilityZone: market.AvailabilityZone, InstanceType: market.InstanceType, ChargeType: market.ChargeType, State: spotpool.StateRunning,
	}}
	offers := map[spotpool.Market]spotpool.Offer{market: {Price: 2}}
	for name, test := range map[string]struct {
		stored spotpool.Cost
		events int
	}{
		"the same currency":   {spotpool.Cost{Price: 7, Currency: "USD"}, 1},
		"another currency":    {spotpool.Cost{Price: 7, Currency: "CNY"}, 0},
		"no currency, before": {spotpool.Cost{Price: 7}, 1},
	} {
		list := markets.Prices(nil).Launched(market, test.stored, noon)
		got, events := list.Update(history.About{At: noon.Add(time.Hour)}, nil, running, offers, "USD", "USD")
		if got.Of(market) != (spotpool.Cost{Price: 2, Currency: "USD"}) || len(events) != test.events {
			t.Errorf("%s: %v, events %v", name, got, events)
		}
		kept, _ := list.Update(history.About{At: noon.Add(time.Hour)}, nil, running, nil, "USD", "USD")
		destroyed, _ := list.Update(history.About{At: noon.Add(time.Hour)}, nil, running, offers, "USD", "")
		if was := test.stored.Currency; was == "CNY" && destroyed.Of(market) != test.stored {
			t.Errorf("%s: destroyed by a connection in another one, it is %v", name, destroyed)
		}
		if was := test.stored.Currency; was == "CNY" && kept.Of(market).In("USD") != 0 {
			t.Errorf("%s: not listed, it is %v", name, kept)
		}
	}
}
