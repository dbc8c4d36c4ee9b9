package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// refreshing sets the refresh.
func refreshing(s spotpool.RefreshStrategy, surge, unavailable int) func(*spotpool.Declaration) {
	return func(d *spotpool.Declaration) {
		d.Refresh = spotpool.Refresh{Strategy: s, MaxSurge: surge, MaxUnavailable: unavailable}
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	none, opportunistic, rolling := spotpool.RefreshNone, spotpool.RefreshOpportunistic, spotpool.RefreshRolling
	old1, old2, old3 := instance("ins-1", drifted), instance("ins-2", drifted), instance("ins-3", drifted)
	new4, new5 := instance("ins-4"), instance("ins-5")
	launching := inState(spotpool.StatePending)
	const launch = "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"
	shouldDecideEach(t, map[string]decisionCase{
		"none leaves them":                          {seen(pool(refreshing(none, 1, 1)), old1, old2, old3), nil, ""},
		"opportunistic takes what is above minimum": {seen(pool(refreshing(opportunistic, 0, 0)), old1, old2, new4), []string{"terminate ins-1"}, ""},
		"opportunistic waits at minimum": {
			seen(pool(refreshing(opportunistic, 0, 0)), old1, new4), nil, "1 to be replaced (drifted configuration) once the pool is above its minimum",
		},
		"opportunistic does not count what is pending": {
			seen(pool(refreshing(opportunistic, 0, 0)), old1, new4, instance("ins-5", launching, launched(noon))), nil, "",
		},
		"rolling launches ahead by the surge": {seen(pool(refreshing(rolling, 1, 0)), old1, old2), []string{launch}, ""},
		"rolling waits until what it launched works": {
			seen(pool(refreshing(rolling, 1, 0)), old1, old2, instance("ins-4", launching, launched(noon))), nil, "",
		},
		"rolling then ends one":               {seen(pool(refreshing(rolling, 1, 0)), old1, old2, new4), []string{"terminate ins-1"}, ""},
		"rolling with unavailable ends first": {seen(pool(size(2, 2), refreshing(rolling, 0, 1)), old1, old2), []string{"terminate ins-1"}, ""},
		"rolling with unavailable launches at once where there is room": {
			seen(pool(size(2, 3), refreshing(rolling, 0, 1)), old1, old2), []string{"terminate ins-1", launch}, "",
		},
		"rolling never has more unavailable": {
			seen(pool(size(2, 2), refreshing(rolling, 0, 1)), old1, instance("ins-4", launching, launched(noon))), nil,
			"1 to be replaced (drifted configuration) once more than 1 are running, and 1 is",
		},
		"rolling replaces no more than there are": {
			seen(pool(size(2, 9), refreshing(rolling, 3, 0)), old1, new4), []string{launch}, "",
		},
		"rolling counts what it launched already": {
			seen(pool(size(2, 9), refreshing(rolling, 3, 0)), old1, new4, instance("ins-5", launching, launched(noon))), nil, "",
		},
		"rolling in batches of surge and unavailable": {
			seen(pool(size(3, 9), refreshing(rolling, 2, 0)), old1, old2, old3), []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"the pool is full of what does not work": {
			seen(pool(size(2, 3), refreshing(rolling, 1, 0)), old1, old2, instance("ins-3", inState(spotpool.StateStopped))), nil,
			"2 to be replaced (drifted configuration), and total 3 of maximum 3 leaves no room to launch first: raise maximum, or allow max_unavailable",
		},
		"what leaves above maximum is no longer available": {
			seen(pool(size(2, 3), refreshing(opportunistic, 0, 0)), old1, old2, old3, instance("ins-4", drifted)),
			[]string{"terminate ins-1", "terminate ins-2"}, "",
		},
		"nothing can be launched ahead": {
			offered(seen(pool(refreshing(rolling, 1, 0)), old1, old2), offer(zone2, "2", soldOut)), nil,
			"2 to be replaced (drifted configuration), and nothing can be launched first: allow max_unavailable, so that a termination makes room",
		},
		"what is launched for a short pool takes the room": {
			seen(pool(size(3, 3), refreshing(rolling, 0, 2)), old1, new4), []string{launch, "terminate ins-1"},
			"total 3, and maximum is 3: no room for 1 more",
		},
		"what is launched for a short pool counts for its run": {
			seen(pool(size(3, 4), refreshing(rolling, 0, 2), func(d *spotpool.Declaration) { d.MaxLaunchesPerRun = 1 }), old1, new4),
			[]string{launch, "terminate ins-1"}, "max_launches_per_run is 1: 1 more to be launched by the next run",
		},
		"balanced launches where one leaves": {
			seen(pool(size(2, 3), refreshing(rolling, 0, 1), func(d *spotpool.Declaration) { d.AllocationStrategy = spotpool.Balanced }), new4,
				instance("ins-2", drifted, inZone(zone3))), []string{"terminate ins-2", "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"}, "",
		},
		"drifted instances that do not work go first": {
			seen(pool(size(2, 3), refreshing(rolling, 1, 0)), old1, new4, instance("ins-3", drifted, inState(spotpool.StateStopped))),
			[]string{"terminate ins-3"}, "",
		},
		"protected ones stay":             {seen(pool(refreshing(rolling, 1, 1)), new4, instance("ins-1", drifted, protected)), nil, ""},
		"all are current":                 {seen(pool(refreshing(rolling, 1, 1)), new4, new5), nil, ""},
		"a short pool is topped up first": {seen(pool(refreshing(rolling, 1, 1)), old1), []string{launch, launch}, ""},
		"a pool that stays short is left": {offered(seen(pool(refreshing(rolling, 1, 1)), old1), []spotpool.Offer{}...), nil, ""},
		"nothing can be launched in place": {
			offered(seen(pool(size(2, 2), refreshing(rolling, 0, 1)), old1, old2), offer(zone2, "2", soldOut)), nil,
			"spot GN7.2XLARGE32 in ap-singapore-2: sold out: Tencent Cloud has no stock",
		},
	})
}

// TestALaunchOfARefreshSaysWhatLeaves: now, or once it works.
func TestALaunchOfARefreshSaysWhatLeaves(t *testing.T) {
	t.Parallel()
	p := decide.Decide(seen(pool(refreshing(spotpool.RefreshRolling, 1, 0)), instance("ins-1", drifted), instance("ins-2", drifted)))
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	shouldSay(t, "reasons", p.Decisions[0].Reasons.Texts(), "launched before terminating ins-1, ins-2: drifted configuration")
	p = decide.Decide(seen(pool(size(2, 3), refreshing(spotpool.RefreshRolling, 0, 1)), instance("ins-1", drifted), instance("ins-2")))
	shouldDecide(t, p, "terminate ins-1", "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	shouldSay(t, "reasons", p.Decisions[1].Reasons.Texts(), "capacity 2, less 1 to be terminated, is below minimum 2")
}

func TestOneStepOfARefreshARun(t *testing.T) {
	t.Parallel()
	s := seen(pool(refreshing(spotpool.RefreshRolling, 1, 0)), instance("ins-1", drifted), instance("ins-2", drifted), instance("ins-3"))
	p := decide.Decide(s)
	if len(p.Decisions) != 1 || !p.Decisions[0].Refresh {
		t.Fatalf("want one decision that belongs to a refresh: %q", p.Decisions)
	}
	s.SoFar.Refreshed = true
	shouldDecide(t, decide.Decide(s))
}

// TestARollingRefreshKeepsItsBounds rolls pools of every small shape, and watches
// the number that work from step to step.
func TestARollingRefreshKeepsItsBounds(t *testing.T) {
	t.Parallel()
	for _, minimum := range []int{1, 2, 5} {
		for _, spare := range []int{0, 1, 3} {
			for surge := range 3 {
				for unavailable := range 3 {
					if unavailable == 0 && (surge == 0 || spare == 0) {
						continue // refused when it is declared
					}
					t.Run(fmt.Sprintf("minimum %d spare %d surge %d unavailable %d", minimum, spare, surge, unavailable), func(t *testing.T) {
						t.Parallel()
						roll(t, pool(size(minimum, minimum+spare), refreshing(spotpool.RefreshRolling, surge, unavailable)))
					})
				}
			}
		}
	}
}

func roll(t *testing.T, d spotpool.Declaration) {
	w := newWorld(d)
	watch := func(decide.Situation, decide.Plan) {}
	settle := func() (decided int) {
		n, err := w.run(fault{}, func(s decide.Situation, p decide.Plan) { watch(s, p) })
		if err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		return n
	}
	settle()
	settle()
	w.d.ImageID = "img-ffffffff"
	watch = func(_ decide.Situation, p decide.Plan) {
		works := 0
		for _, m := range w.machines {
			if m.State == spotpool.StateRunning {
				works++
			}
		}
		if works < d.Minimum-d.Refresh.MaxUnavailable {
			t.Fatalf("%d work: minimum is %d, max_unavailable %d", works, d.Minimum, d.Refresh.MaxUnavailable)
		}
		if p.Capacity > d.Minimum+d.Refresh.MaxSurge || p.Total > d.Maximum {
			t.Fatalf("capacity %d and total %d: minimum is %d, max_surge %d, maximum %d", p.Capacity, p.Total, d.Minimum, d.Refresh.MaxSurge, d.Maximum)
		}
	}
	for round := 0; settle() > 0; round++ {
		if round > 4*d.Minimum+4 {
			t.Fatal("the refresh takes too many runs")
		}
	}
	settle()
	if p := decide.Decide(w.situation(decide.SoFar{})); p.Drifted > 0 || p.Capacity < d.Minimum || p.Total > d.Minimum {
		t.Fatalf("it ends with %+v", p.Counts)
	}
}

func quotaAway(s decide.Situation) decide.Situation {
	s.Observation.QuotaAway = true
	return s
}

// TestRefreshThatNeedsRoom terminates only if the replacement can be launched afterwards, in
// the room that is free then.
func TestRefreshThatNeedsRoom(t *testing.T) {
	t.Parallel()
	rolling := func(d *spotpool.Declaration) {
		d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxUnavailable: 1}
	}
	base := func(d *spotpool.Declaration) { d.OnDemandBase = 1 }
	costs := func(limit string) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) { d.MaxHourlyCost = yuan(limit) }
	}
	old := instance("ins-1", drifted)
	shouldDecideEach(t, map[string]decisionCase{
		"the cost cap leaves no room for a replacement": {
			offered(seen(pool(size(2, 4), rolling, costs("5")), old, instance("ins-2", drifted)), offer(zone2, "5.50"), offer(zone3, "5.50")), nil,
			"spot GN7.2XLARGE32 in ap-singapore-2: 5.50 CNY an hour in addition to the pool's 5.50 would exceed max_hourly_cost 5.00",
		},
		"the cost cap leaves room for one replacement": {
			offered(seen(pool(size(3, 5), refreshing(spotpool.RefreshRolling, 0, 2), costs("7")), old, instance("ins-2", drifted), instance("ins-3", drifted)),
				offer(zone2, "2", soldOut), offer(zone3, "3")), []string{"terminate ins-1"}, "",
		},
		"balanced replacements go where instances leave, within the cost cap": {
			seen(pool(size(4, 6), refreshing(spotpool.RefreshRolling, 0, 2), costs("10"), func(d *spotpool.Declaration) {
				d.AllocationStrategy = spotpool.Balanced
			}), old, instance("ins-2", drifted), instance("ins-3", inZone(zone3)), instance("ins-4", inZone(zone3))), []string{"terminate ins-1, ins-2"}, "",
		},
		"a launch of the same plan uses the quota up": {
			func() decide.Situation {
				s := offered(seen(pool(size(3, 4), refreshing(spotpool.RefreshRolling, 0, 2)), instance("ins-1", drifted, inZone(zone4)), instance("ins-2")),
					offer(zone2, "2"), offer(zone3, "3", soldOut))
				s.Observation.SpotVCPUs = map[string]int{zone2: 8}
				return s
			}(), []string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
			"spot GN7.2XLARGE32 in ap-singapore-2: the account's spot quota in ap-singapore-2 has 0 vCPUs left, and one instance needs 8",
		},
		"the pool uses the quota up itself": {
			func() decide.Situation {
				s := seen(pool(size(2, 4), rolling), old, instance("ins-2", drifted))
				s.Observation.SpotVCPUs = map[string]int{zone2: 0, zone3: 0}
				return s
			}(), []string{"terminate ins-1"}, "",
		},
		"the market is unknown": {
			offered(seen(pool(size(2, 4), rolling), old, instance("ins-2", drifted))), nil,
			"2 to be replaced (drifted configuration): prices and stock are unknown, so a replacement may not be available",
		},
		"the quota is unknown": {
			quotaAway(seen(pool(size(2, 4), rolling), old, instance("ins-2", drifted))), nil,
			"2 to be replaced (drifted configuration): the spot quota is unknown, so a replacement may not be available",
		},
		"the quota is unknown, and on-demand instances need none": {
			quotaAway(seen(pool(size(1, 2), rolling, func(d *spotpool.Declaration) { d.InstanceChargeType = spotpool.OnDemand }),
				instance("ins-1", onDemand, drifted))), []string{"terminate ins-1", "launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"an on-demand one of the base while spot is sold out": {
			offered(seen(pool(size(2, 4), rolling, base), instance("ins-1", onDemand, drifted), instance("ins-2")),
				offer(zone2, "2", soldOut), offer(zone3, "3", soldOut), offer(zone2, "10", onDemandOffer)),
			[]string{"terminate ins-1", "launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
		"a spot one while spot is sold out": {
			offered(seen(pool(size(2, 4), rolling, base), instance("ins-1", onDemand), instance("ins-2", drifted)),
				offer(zone2, "2", soldOut), offer(zone3, "3", soldOut), offer(zone2, "10", onDemandOffer)),
			nil, "spot GN7.2XLARGE32 in ap-singapore-2: sold out: Tencent Cloud has no stock",
		},
	})
}
