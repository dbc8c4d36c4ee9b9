package decide_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

func TestSpotQuota(t *testing.T) {
	t.Parallel()
	left := func(s decide.Situation, vCPUs map[string]int) decide.Situation {
		s.Observation.SpotVCPUs = vCPUs
		return s
	}
	shouldDecideEach(t, map[string]decisionCase{
		"enough for all": {left(seen(pool()), map[string]int{zone2: 16}), []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-2"}, ""},
		"enough for one, and the rest goes elsewhere": {
			left(seen(pool()), map[string]int{zone2: 15, zone3: 50}),
			[]string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2", "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"}, "",
		},
		"a zone without a known quota has no limit here": {
			left(seen(pool()), map[string]int{zone2: 0}), []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-3"}, "",
		},
		"none left anywhere": {
			left(seen(pool()), map[string]int{zone2: 7, zone3: 0}), nil,
			"spot GN7.2XLARGE32 in ap-singapore-2: the account's spot quota in ap-singapore-2 has 7 vCPUs left, and one instance needs 8",
		},
		"two types of a zone share its quota": {
			left(offered(seen(pool(size(3, 4), func(d *spotpool.Declaration) {
				d.Offerings = []spotpool.Offering{offering(zone2, a10), offering(zone2, t4)}
			})), offer(zone2, "2"), offer(zone2, "3", func(o *spotpool.Offer) { o.InstanceType, o.VCPUs = a10, 28 })), map[string]int{zone2: 28 + 15}),
			[]string{"launch 1 spot PNV4.7XLARGE116 in ap-singapore-2", "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
			"spot GN7.2XLARGE32 in ap-singapore-2: the account's spot quota in ap-singapore-2 has 7 vCPUs left, and one instance needs 8",
		},
		"on-demand instances need no spot quota": {
			left(seen(pool(func(d *spotpool.Declaration) { d.InstanceChargeType = spotpool.OnDemand })), map[string]int{zone2: 0}),
			[]string{"launch 2 on-demand GN7.2XLARGE32 in ap-singapore-2"}, "",
		},
	})
}

func TestMaxLaunchesPerRun(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(4, 6), func(d *spotpool.Declaration) { d.MaxLaunchesPerRun = 3 }))
	p := decide.Decide(s)
	shouldDecide(t, p, "launch 3 spot GN7.2XLARGE32 in ap-singapore-2")
	shouldSay(t, "short", p.Short.Texts(), "max_launches_per_run is 3: 1 more to be launched by the next run")

	s.SoFar.Launched = 2
	shouldDecide(t, decide.Decide(s), "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	s.SoFar.Launched = 3
	shouldDecide(t, decide.Decide(s))
	s.SoFar = decide.SoFar{}
	shouldDecide(t, decide.Decide(s), "launch 3 spot GN7.2XLARGE32 in ap-singapore-2")
}

func TestMaximumCountsAllThatIsHeld(t *testing.T) {
	t.Parallel()
	stopped := inState(spotpool.StateStopped)
	p := decide.Decide(seen(pool(size(3, 4)), instance("ins-1"), instance("ins-2", stopped), instance("ins-3", stopped)))
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	shouldSay(t, "short", p.Short.Texts(), "total 3, and maximum is 4: no room for 1 more")
	shouldSay(t, "warnings", p.Warnings.Texts(),
		"ins-2, ins-3 are stopped: counted in the total but not as capacity. Start or terminate what was stopped on purpose")
}

func TestAClosedGateHoldsLaunchesBack(t *testing.T) {
	t.Parallel()
	closed := spotpool.Gate{Closed: true, Reason: reason.OtherVersion("the budget team-a is used up until 2026-03-02T00:00:00Z")}

	short := seen(pool(), instance("ins-1"))
	short.Gate = closed
	p := decide.Decide(short)
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), closed.Reason.String())

	old := seen(pool(func(d *spotpool.Declaration) {
		d.Refresh.Strategy, d.Refresh.MaxUnavailable = spotpool.RefreshRolling, 1
	}), instance("ins-1", drifted), instance("ins-2"))
	old.Gate = closed
	shouldDecide(t, decide.Decide(old))

	tooMany := seen(pool(size(0, 1)), instance("ins-1"), instance("ins-2"))
	tooMany.Gate = closed
	shouldDecide(t, decide.Decide(tooMany), "terminate ins-1")
}

func TestAnObservationOfSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	s := seen(pool())
	s.Observation.AccountID = "200"
	p := decide.Decide(s)
	shouldDecide(t, p)
	if want := "spot_pool/ap-singapore/train belongs to account 100012345678, and what was observed to account 200. Use the credentials of " +
		"account 100012345678"; p.Refusal.String() != want {
		t.Errorf("got %q, want %q", p.Refusal, want)
	}
	s = seen(pool())
	s.Observation.Region = "ap-tokyo"
	if p = decide.Decide(s); p.Refusal.IsZero() || len(p.Decisions) > 0 {
		t.Errorf("decided on an observation of another region: %q", p.Decisions)
	}
	s = seen(pool())
	s.Observation.Currency = "USD"
	p = decide.Decide(s)
	shouldDecide(t, p)
	if !strings.HasPrefix(p.Refusal.String(), "spot_pool/ap-singapore/train has its prices in CNY, and this connection in USD") {
		t.Errorf("decided on prices in another currency: %q", p.Refusal)
	}
	if p.Counts != (spotpool.Counts{}) || p.Bounds != s.Declaration.Bounds() {
		t.Errorf("refused, it counts %+v, and is declared with %+v", p.Counts, p.Bounds)
	}
}

// TestAPoolWithoutACurrencyHasThatOfItsPrices: it was stored before pools had one.
func TestAPoolWithoutACurrencyHasThatOfItsPrices(t *testing.T) {
	t.Parallel()
	s := offered(seen(pool(func(d *spotpool.Declaration) { d.Currency = "" }), instance("ins-1")), offer(zone2, "1.90"))
	s.Observation.Currency = "USD"
	p := decide.Decide(s)
	shouldSay(t, "decisions", p.Decisions[0].Reasons.Texts(), "1.90 USD an hour each")
	if p.Decisions[0].Currency != "USD" || p.Currency != "USD" || p.Members[0].Currency != "USD" {
		t.Errorf("%+v, %+v", p.Decisions[0], p.Members[0])
	}
}
