package decide_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
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
			"spot GN7.2XLARGE32 in ap-singapore-3: prices are unknown, that of ins-1 among them, so max_hourly_cost could not be kept",
		},
	})
}

func TestAHeldInstanceWithoutAPriceIsWarnedOf(t *testing.T) {
	t.Parallel()
	d := pool(func(d *spotpool.Declaration) { d.MaxHourlyCost = yuan("10") })
	p := decide.Decide(seen(d, instance("ins-1", ofType("GN6.7XLARGE48"))))
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	shouldSay(t, "warnings", p.Warnings, "the price of ins-1 is unknown, and counts as zero toward max_hourly_cost")
}
