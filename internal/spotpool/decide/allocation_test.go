package decide_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

func TestAllocationStrategies(t *testing.T) {
	t.Parallel()
	by := func(s spotpool.AllocationStrategy) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) { d.AllocationStrategy = s }
	}
	cheaperInZone3 := []spotpool.Offer{offer(zone2, "3"), offer(zone3, "2")}
	for name, c := range map[string]struct {
		situation decide.Situation
		want      []string
	}{
		"priority takes the first offering for all": {
			offered(seen(pool(by(spotpool.Priority))), cheaperInZone3...),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"},
		},
		"priority goes on to the next where the first is sold out": {
			offered(seen(pool(by(spotpool.Priority))), offer(zone2, "2", soldOut), offer(zone3, "3")),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"lowest_price takes the cheapest": {
			offered(seen(pool(by(spotpool.LowestPrice))), cheaperInZone3...),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"lowest_price takes the first of equals": {
			offered(seen(pool(by(spotpool.LowestPrice))), offer(zone3, "2"), offer(zone2, "2")),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"},
		},
		"lowest_price takes an unknown price last": {
			offered(seen(pool(by(spotpool.LowestPrice))), offer(zone2, "2", func(o *spotpool.Offer) { o.Price = 0 }), offer(zone3, "9")),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"balanced spreads over zones": {
			seen(pool(by(spotpool.Balanced), size(3, 4))),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2", "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"balanced takes the zone with the fewest": {
			seen(pool(by(spotpool.Balanced), size(3, 4)), instance("ins-1"), instance("ins-2")),
			[]string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"balanced counts stuck instances, which use their zone": {
			seen(pool(by(spotpool.Balanced), size(1, 4)), instance("ins-1", inState(spotpool.StateStopped))),
			[]string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"balanced fills what is left where only one zone has stock": {
			offered(seen(pool(by(spotpool.Balanced), size(3, 4))), offer(zone2, "2", soldOut), offer(zone3, "3")),
			[]string{"launch 3 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"nothing is known of prices and stock": {
			offered(seen(pool())),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"},
		},
		"a type that a zone does not list is not sold there": {
			offered(seen(pool()), offer(zone3, "3")),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-3"},
		},
		"minimum is held": {seen(pool(), instance("ins-1"), instance("ins-2")), nil},
		"more than minimum is held, and not more than maximum": {
			seen(pool(), instance("ins-1"), instance("ins-2"), instance("ins-3"), instance("ins-4")), nil,
		},
		"more than one request asks for at most": {
			seen(pool(size(230, 300), func(d *spotpool.Declaration) { d.MaxLaunchesPerRun = 250 })),
			[]string{
				"launch 100 spot GN7.2XLARGE32 in ap-singapore-2", "launch 100 spot GN7.2XLARGE32 in ap-singapore-2",
				"launch 30 spot GN7.2XLARGE32 in ap-singapore-2",
			},
		},
		"balanced asks for no more than that in one request either": {
			seen(pool(by(spotpool.Balanced), size(210, 300), func(d *spotpool.Declaration) { d.MaxLaunchesPerRun = 250 })),
			[]string{
				"launch 100 spot GN7.2XLARGE32 in ap-singapore-2", "launch 100 spot GN7.2XLARGE32 in ap-singapore-3",
				"launch 5 spot GN7.2XLARGE32 in ap-singapore-2", "launch 5 spot GN7.2XLARGE32 in ap-singapore-3",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shouldDecide(t, decide.Decide(c.situation), c.want...)
		})
	}
}

func TestALaunchSaysWhyItGoesWhereItGoes(t *testing.T) {
	t.Parallel()
	p := decide.Decide(offered(seen(pool(), instance("ins-1")), offer(zone2, "2", soldOut), offer(zone3, "3")))
	if len(p.Decisions) != 1 {
		t.Fatalf("decisions: %q", p.Decisions)
	}
	want := "launch 1 spot GN7.2XLARGE32 in ap-singapore-3: capacity 1 is below minimum 2; 3.00 CNY an hour each; " +
		"skipped spot GN7.2XLARGE32 in ap-singapore-2: sold out: Tencent Cloud has no stock"
	if got := p.Decisions[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(p.Short) > 0 {
		t.Errorf("the pool is not short after this, and says: %q", p.Short)
	}
}

func TestAnEmptyPlanSaysWhy(t *testing.T) {
	t.Parallel()
	p := decide.Decide(offered(seen(pool()), offer(zone2, "2", soldOut)))
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "spot GN7.2XLARGE32 in ap-singapore-2: sold out: Tencent Cloud has no stock")
	shouldSay(t, "short", p.Short.Texts(), "spot GN7.2XLARGE32 in ap-singapore-3: not sold: the zone does not offer it")
	if len(p.Journal.Cooldowns) > 0 {
		t.Errorf("a sold-out listing is read in each run, and needs no cooldown: %+v", p.Journal.Cooldowns)
	}
}
