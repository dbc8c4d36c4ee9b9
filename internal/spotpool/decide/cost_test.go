package decide_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

func TestPriceCaps(t *testing.T) {
	t.Parallel()
	capped := func(price string) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) { d.Offerings[0].SpotMaxPrice = yuan(price) }
	}
	for name, c := range map[string]struct {
		situation decide.Situation
		want      string
		short     string
	}{
		"the market is below the cap": {seen(pool(capped("2.5"))), "launch 2 spot GN7.2XLARGE32 in ap-singapore-2", ""},
		"the market is at the cap":    {seen(pool(capped("2"))), "launch 2 spot GN7.2XLARGE32 in ap-singapore-2", ""},
		"the market is above the cap": {seen(pool(capped("1.999999"))), "launch 2 spot GN7.2XLARGE32 in ap-singapore-3", ""},
		"the market is unknown, and the cloud keeps the cap": {
			offered(seen(pool(capped("1")))), "launch 2 spot GN7.2XLARGE32 in ap-singapore-2", "",
		},
		"every market is above its cap": {
			offered(seen(pool(capped("1"))), offer(zone2, "2")), "",
			"spot GN7.2XLARGE32 in ap-singapore-2: the market price of 2.00 CNY an hour is above spot_max_price 1.00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decide.Decide(c.situation)
			if c.want == "" {
				shouldDecide(t, p)
				shouldSay(t, "short", p.Short.Texts(), c.short)
				return
			}
			shouldDecide(t, p, c.want)
		})
	}
}

func TestRequestHasTheCap(t *testing.T) {
	t.Parallel()
	d := pool(func(d *spotpool.Declaration) {
		d.Offerings[0].SpotMaxPrice = yuan("2.5")
		d.OnDemandBase = 1
	})
	got := map[string]spotpool.Price{}
	for _, decision := range decide.Decide(seen(d)).Decisions {
		got[decision.Summary()] = decision.Request.Offering.SpotMaxPrice
	}
	want := map[string]spotpool.Price{
		"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2": 0,
		"launch 1 spot GN7.2XLARGE32 in ap-singapore-2":      yuan("2.5"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bids (-want +got):\n%s", diff)
	}
}

func TestMaxHourlyCost(t *testing.T) {
	t.Parallel()
	atMost := func(cost string) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) { d.MaxHourlyCost = yuan(cost) }
	}
	noPrice := func(o *spotpool.Offer) { o.Price = 0 }
	capped := func(d *spotpool.Declaration) {
		d.Offerings[0].SpotMaxPrice, d.Offerings[1].SpotMaxPrice = yuan("2.5"), yuan("3.5")
	}
	shouldDecideEach(t, map[string]decisionCase{
		"all is affordable": {
			seen(pool(size(3, 4), atMost("6")), instance("ins-1")), []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"what is held is spent already": {
			seen(pool(size(3, 4), atMost("5")), instance("ins-1")), []string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
			"spot GN7.2XLARGE32 in ap-singapore-2: 2.00 CNY an hour in addition to the pool's 4.00 would exceed max_hourly_cost 5.00",
		},
		"a dearer offering does not help": {
			seen(pool(size(2, 4), atMost("3")), instance("ins-1")), nil,
			"spot GN7.2XLARGE32 in ap-singapore-3: 3.00 CNY an hour in addition to the pool's 2.00 would exceed max_hourly_cost 3.00",
		},
		"stopped instances count: most of their price is still due": {
			seen(pool(size(1, 4), atMost("3")), instance("ins-1", inState(spotpool.StateStopped))), nil,
			"spot GN7.2XLARGE32 in ap-singapore-2: 2.00 CNY an hour in addition to the pool's 2.00 would exceed max_hourly_cost 3.00",
		},
		"a price is unknown and there is no cap": {
			offered(seen(pool(atMost("10"))), offer(zone2, "2", noPrice)), nil,
			"spot GN7.2XLARGE32 in ap-singapore-2: its price is unknown, so max_hourly_cost could not be kept",
		},
		"a price is unknown, and the cap stands for it": {
			offered(seen(pool(size(3, 4), atMost("6"), capped)), offer(zone2, "2", noPrice)),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"no price is known, that of what is held neither": {
			offered(seen(pool(atMost("10"), func(d *spotpool.Declaration) { d.Offerings[1].SpotMaxPrice = yuan("1") }), instance("ins-1"))), nil,
			"spot GN7.2XLARGE32 in ap-singapore-3: the price of ins-1 is unknown, so max_hourly_cost could not be kept",
		},
		"what is held counts at its last price while none is listed": {
			lastPriced(offered(seen(pool(atMost("4.99")), instance("ins-1")), offer(zone2, "2", noPrice), offer(zone3, "3")), "2"), nil,
			"spot GN7.2XLARGE32 in ap-singapore-3: 3.00 CNY an hour in addition to the pool's 2.00 would exceed max_hourly_cost 4.99",
		},
		"what is held counts at its last price once its market is no longer listed": {
			lastPriced(offered(seen(pool(atMost("5")), instance("ins-1")), offer(zone3, "3")), "2"),
			[]string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-3"}, "",
		},
		"what is held does not count at a last price in another currency": {
			inUSD(lastPriced(offered(seen(pool(atMost("5")), instance("ins-1")), offer(zone3, "3")), "2")), nil,
			"spot GN7.2XLARGE32 in ap-singapore-3: the price of ins-1 is unknown, so max_hourly_cost could not be kept",
		},
		"what is held counts at its cap while its price was never known": {
			offered(seen(pool(atMost("4.99"), capped), instance("ins-1")), offer(zone2, "2", noPrice)), nil,
			"spot GN7.2XLARGE32 in ap-singapore-2: 2.50 CNY an hour in addition to the pool's 2.50 would exceed max_hourly_cost 4.99",
		},
		"a listed price is newer than the last one": {
			lastPriced(seen(pool(size(3, 4), atMost("5")), instance("ins-1")), "9"), []string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
			"spot GN7.2XLARGE32 in ap-singapore-2: 2.00 CNY an hour in addition to the pool's 4.00 would exceed max_hourly_cost 5.00",
		},
	})
}

// inUSD has the last prices in another currency than the pool's.
func inUSD(s decide.Situation) decide.Situation {
	s.Journal.Prices[0].Currency = "USD"
	return s
}

// lastPriced records the price of the first offering.
func lastPriced(s decide.Situation, price string) decide.Situation {
	s.Journal.Prices = markets.Prices{{Market: offer(zone2, price).Market, Price: yuan(price), Since: ago(time.Hour)}}
	return s
}

// TestNothingIsLaunchedBesideAnUnknownPrice: the cost of an instance, or of a pending launch, may be
// anything.
func TestNothingIsLaunchedBesideAnUnknownPrice(t *testing.T) {
	t.Parallel()
	d := pool(func(d *spotpool.Declaration) { d.MaxHourlyCost = yuan("10") })
	pending := seen(d)
	r := spotpool.Request{Region: region, Pool: d.Name, UID: uid, Sequence: 1, SeqTag: 1, Offering: offering(zone4, t4), ChargeType: spotpool.Spot, Count: 1}
	pending.Journal = pending.Journal.Open(launches.Launch{Request: r, WrittenAt: ago(time.Minute)})
	for what, s := range map[string]decide.Situation{"ins-1": seen(d, instance("ins-1", ofType("GN6.7XLARGE48"))), "a pending launch": pending} {
		p := decide.Decide(s)
		for _, decision := range p.Decisions {
			if decision.Kind == spotpool.KindLaunch && !decision.Resume {
				t.Errorf("%s: %s", what, decision.Summary())
			}
		}
		shouldSay(t, "short", p.Short.Texts(), "spot GN7.2XLARGE32 in ap-singapore-2: the price of "+what+" is unknown, so max_hourly_cost could not be kept")
		shouldSay(t, "warnings", p.Warnings.Texts(), "the price of "+what+" is unknown: nothing is launched, since max_hourly_cost could not be kept")
		s.Declaration.MaxHourlyCost = 0
		if p := decide.Decide(s); len(p.Decisions) == 0 || len(p.Warnings) > 0 {
			t.Errorf("%s without a cap: %v, warnings %q", what, summaries(p), p.Warnings.Texts())
		}
	}
}
