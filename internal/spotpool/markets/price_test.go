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
		got, events := list.Update(history.About{At: noon.Add(time.Duration(name) * time.Hour), ObjectUID: "u"}, step.instances, step.offers)
		if diff := cmp.Diff(step.want, got, cmpopts.EquateEmpty()); diff != "" || len(events) != step.events {
			t.Errorf("step %d: %d events, and (-want +got)\n%s", name, len(events), diff)
		}
		list = got
	}
	if list.Of(two) != 0 {
		t.Error("a market that is not in use has a price")
	}
}
