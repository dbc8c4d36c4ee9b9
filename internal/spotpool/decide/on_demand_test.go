package decide_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

func TestOnDemandBase(t *testing.T) {
	t.Parallel()
	base := func(n int) func(*spotpool.Declaration) { return func(d *spotpool.Declaration) { d.OnDemandBase = n } }
	for name, c := range map[string]struct {
		situation decide.Situation
		want      []string
	}{
		"the base comes first": {
			seen(pool(size(3, 4), base(1))),
			[]string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2", "launch 2 spot GN7.2XLARGE32 in ap-singapore-2"},
		},
		"the base is there": {
			seen(pool(size(3, 4), base(1)), instance("ins-1", onDemand)), []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"},
		},
		"the base is launched again": {
			seen(pool(size(3, 4), base(1)), instance("ins-1"), instance("ins-2")), []string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"},
		},
		"a raised base is launched where there is room": {
			seen(pool(size(2, 4), base(1)), instance("ins-1"), instance("ins-2")), []string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"},
		},
		"a raised base terminates nothing where there is none": {
			seen(pool(size(2, 2), base(1)), instance("ins-1"), instance("ins-2")), nil,
		},
		"a raised base without on-demand instances launches nothing": {
			offered(seen(pool(size(2, 4), base(1)), instance("ins-1"), instance("ins-2")), offer(zone2, "2")), nil,
		},
		"a base that was reached stays": {seen(pool(size(2, 4), base(1)), instance("ins-1", onDemand), instance("ins-2")), nil},
		"the base is kept at a lower maximum": {
			seen(pool(size(1, 1), base(1)), instance("ins-1", onDemand), instance("ins-2")), []string{"terminate ins-2"},
		},
		"no on-demand instance can be had: spot stands in": {
			offered(seen(pool(base(1))), offer(zone2, "2")), []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"},
		},
		"a price cap is for spot": {
			seen(pool(size(1, 4), base(1), func(d *spotpool.Declaration) { d.Offerings[0].SpotMaxPrice = yuan("5") })),
			[]string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"},
		},
		"a base drifted is replaced by another": {
			seen(pool(base(1), refreshing(spotpool.RefreshRolling, 1, 0)), instance("ins-1", onDemand, drifted), instance("ins-2")),
			[]string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"},
		},
		"a pool of on-demand instances alone": {
			seen(pool(func(d *spotpool.Declaration) { d.InstanceChargeType = spotpool.OnDemand })),
			[]string{"launch 2 on-demand GN7.2XLARGE32 in ap-singapore-2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shouldDecide(t, decide.Decide(c.situation), c.want...)
		})
	}
}

// falling lets a pool fall back to at most n on-demand instances after 30 minutes.
func falling(n int) func(*spotpool.Declaration) {
	return func(d *spotpool.Declaration) {
		d.OnDemandFallback = &spotpool.OnDemandFallback{After: spotpool.DefaultFallbackAfter, Maximum: n}
	}
}

func noSpot(s decide.Situation) decide.Situation {
	return offered(s, offer(zone2, "2", soldOut), offer(zone3, "3", soldOut), offer(zone2, "10", onDemandOffer), offer(zone3, "10", onDemandOffer))
}

func shortSince(s decide.Situation, at time.Time) decide.Situation {
	s.Journal.ShortSince = at
	return s
}

func TestOnDemandFallback(t *testing.T) {
	t.Parallel()
	shouldDecideEach(t, map[string]decisionCase{
		"not at once": {noSpot(seen(pool(falling(1)))), nil, "on-demand instances take over at 2026-03-01T12:30:00Z"},
		"not before its time": {
			shortSince(noSpot(seen(pool(falling(1)))), ago(29*time.Minute)), nil, "on-demand instances take over at 2026-03-01T12:01:00Z",
		},
		"in time, up to its maximum": {
			shortSince(noSpot(seen(pool(falling(1)))), ago(30*time.Minute)),
			[]string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"beside the base": {
			shortSince(noSpot(seen(pool(size(3, 4), falling(1), func(d *spotpool.Declaration) { d.OnDemandBase = 1 }), instance("ins-1", onDemand))),
				ago(time.Hour)),
			[]string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"with the base, in one request": {
			shortSince(noSpot(seen(pool(size(3, 4), falling(1), func(d *spotpool.Declaration) { d.OnDemandBase = 1 }))), ago(time.Hour)),
			[]string{"launch 2 on-demand GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"up to its maximum, of which one is there": {
			shortSince(noSpot(seen(pool(size(4, 4), falling(2)), instance("ins-1", onDemand))), ago(time.Hour)),
			[]string{"launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"not beyond its maximum": {
			shortSince(noSpot(seen(pool(falling(1)), instance("ins-1", onDemand))), ago(time.Hour)), nil,
			"on_demand_fallback allows 1 on-demand instances in place of spot ones, and 1 is there",
		},
		"only for what spot can't give": {
			shortSince(offered(seen(pool(falling(2))), offer(zone2, "2"), offer(zone2, "10", onDemandOffer)), ago(time.Hour)),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"not without being declared": {shortSince(noSpot(seen(pool())), ago(time.Hour)), nil,
			"spot GN7.2XLARGE32 in ap-singapore-2: sold out: Tencent Cloud has no stock"},
	})
}

func TestSinceWhenAPoolIsShort(t *testing.T) {
	t.Parallel()
	hour := ago(time.Hour)
	gated := shortSince(noSpot(seen(pool())), hour)
	gated.Gate = spotpool.Gate{Closed: true, Reason: reason.OtherVersion("the budget is used up")}
	for name, c := range map[string]struct {
		situation decide.Situation
		want      time.Time
	}{
		"from the first run that sees it": {noSpot(seen(pool(), instance("ins-1"))), noon},
		"until enough instances run":      {shortSince(seen(pool(), instance("ins-1"), instance("ins-2")), hour), time.Time{}},
		"launching is not running": {shortSince(seen(pool(), instance("ins-1"),
			instance("ins-2", inState(spotpool.StatePending), launched(noon))), hour), hour},
		"launching is not short either": {
			seen(pool(), instance("ins-1"), instance("ins-2", inState(spotpool.StatePending), launched(noon))), time.Time{},
		},
		"not while a budget keeps it from being tried": {gated, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := decide.Decide(c.situation).Journal.ShortSince; !got.Equal(c.want) {
				t.Errorf("short since %s, want %s", got, c.want)
			}
		})
	}
}

func TestReturnToSpot(t *testing.T) {
	t.Parallel()
	standIn := instance("ins-1", onDemand)
	spot2, spot3 := instance("ins-2"), instance("ins-3")
	justReclaimed := func(s decide.Situation) decide.Situation {
		for _, o := range s.Declaration.Offerings {
			s.Journal.Cooldowns = append(s.Journal.Cooldowns, markets.Cooldown{
				Market: spotpool.Market{AvailabilityZone: o.AvailabilityZone, InstanceType: o.InstanceType, ChargeType: spotpool.Spot},
				Cause:  markets.CausedByLoss, Until: noon.Add(time.Minute),
			})
		}
		return s
	}
	for name, c := range map[string]struct {
		situation decide.Situation
		want      []string
	}{
		"a spot instance is launched first": {seen(pool(falling(1)), standIn, spot2), []string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2"}},
		"then the on-demand one is ended":   {seen(pool(falling(1)), standIn, spot2, spot3), []string{"terminate ins-1"}},
		"it waits until the spot one works": {seen(pool(falling(1)), standIn, spot2,
			instance("ins-3", inState(spotpool.StatePending), launched(noon))), nil},
		"where maximum leaves no room, it ends first": {seen(pool(size(2, 2), falling(1)), standIn, spot2), []string{"terminate ins-1"}},
		"one at a time": {
			seen(pool(size(2, 2), falling(2)), standIn, instance("ins-2", onDemand)), []string{"terminate ins-1"},
		},
		"one at a time, where launches take the room": {
			seen(pool(size(3, 5), falling(2)), instance("ins-1", onDemand, inState(spotpool.StateStopped)),
				instance("ins-2", onDemand, inState(spotpool.StateStopped)), instance("ins-3")),
			[]string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2", "terminate ins-1"},
		},
		"not while spot is sold out":              {noSpot(seen(pool(falling(1)), standIn, spot2)), nil},
		"not while nothing is known":              {offered(seen(pool(falling(1)), standIn, spot2)), nil},
		"not where instances were just reclaimed": {justReclaimed(seen(pool(falling(1)), standIn, spot2)), nil},
		"not for the base":                        {seen(pool(falling(1), func(d *spotpool.Declaration) { d.OnDemandBase = 1 }), standIn, spot2), nil},
		"not for a protected one":                 {seen(pool(falling(1)), instance("ins-1", onDemand, protected), spot2), nil},
		"not in a pool that never falls back":     {seen(pool(), standIn, spot2), nil},
		"a short pool is topped up first": {
			seen(pool(size(3, 4), falling(1)), standIn, spot2),
			[]string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2", "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shouldDecide(t, decide.Decide(c.situation), c.want...)
		})
	}
}

// An instance that a refresh just terminated does not cause a fallback.
func TestARefreshDoesNotFallBack(t *testing.T) {
	t.Parallel()
	s := offered(seen(pool(falling(2), refreshing(spotpool.RefreshRolling, 0, 1)), instance("ins-1", drifted), instance("ins-2")),
		offer(zone2, "2"), offer(zone2, "10", onDemandOffer))
	s.Observation.SpotVCPUs = map[string]int{zone2: 8}
	s.Declaration.MaxHourlyCost = yuan("5") // two are held, and a third has no place
	p := decide.Decide(s)
	shouldDecide(t, p, "terminate ins-1")
	shouldSay(t, "short", p.Short.Texts(), "on-demand instances take over at 2026-03-01T12:30:00Z")

	s = offered(seen(pool(size(3, 4), falling(1), refreshing(spotpool.RefreshRolling, 0, 2)), instance("ins-1", drifted), instance("ins-2")),
		offer(zone2, "2"), offer(zone2, "10", onDemandOffer))
	s.Observation.SpotVCPUs = map[string]int{zone2: 8} // for what is missing before the refresh
	p = decide.Decide(s)
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2", "terminate ins-1")
	shouldSay(t, "short", p.Short.Texts(), "on-demand instances take over at 2026-03-01T12:30:00Z")
}

// An on-demand instance that Tencent Cloud refused to terminate stays part of the base. A
// refresh that launched another one would be above the base, and it would be terminated again.
func TestARefusedEndStaysPartOfTheBase(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(2, 4), refreshing(spotpool.RefreshRolling, 1, 0), falling(0), func(d *spotpool.Declaration) { d.OnDemandBase = 2 }),
		instance("ins-1", onDemand, drifted, inState(spotpool.StateShutdown)), instance("ins-2", onDemand), instance("ins-3", drifted))
	shouldDecide(t, decide.Decide(s), "terminate ins-1")
	s.SoFar.Refused = []string{"ins-1"}
	shouldDecide(t, decide.Decide(s), "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
}
