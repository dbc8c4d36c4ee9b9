package decide_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// refused is the error of a launch that Tencent Cloud refused.
func refused(class errorclass.Class, scope spotpool.ErrorScope) *spotpool.CloudError {
	return &spotpool.CloudError{Class: class, Scope: scope, NothingLaunched: true, Action: "RunInstances", Code: "Refused"}
}

// after is the situation a moment after the first decision was refused.
func after(t *testing.T, s decide.Situation, refusal *spotpool.CloudError) decide.Situation {
	t.Helper()
	p := decide.Decide(s)
	if len(p.Decisions) == 0 {
		t.Fatalf("nothing to refuse; short: %q", p.Short)
	}
	r := *p.Decisions[0].Request
	s.Journal, _ = p.Journal.Open(launches.Launch{Request: r, WrittenAt: s.Now}).Refuse(r.Sequence, refusal, s.Declaration.Cooldown, s.Now)
	return s
}

func TestRefusalScopes(t *testing.T) {
	t.Parallel()
	twoTypes := func(d *spotpool.Declaration) {
		d.Offerings = []spotpool.Offering{offering(zone2, t4), offering(zone2, a10), offering(zone3, t4)}
	}
	for name, c := range map[string]struct {
		class errorclass.Class
		scope spotpool.ErrorScope
		want  string // what is launched instead, of one missing
	}{
		"sold out: the offering":               {errorclass.Capacity, spotpool.ScopeOffering, "launch 1 spot PNV4.7XLARGE116 in ap-singapore-2"},
		"sold out: the zone":                   {errorclass.Capacity, spotpool.ScopeZone, "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
		"bid too low":                          {errorclass.Price, spotpool.ScopeOffering, "launch 1 spot PNV4.7XLARGE116 in ap-singapore-2"},
		"spot quota of the zone used up":       {errorclass.Quota, spotpool.ScopeZone, "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
		"the zone does not sell the type":      {errorclass.Configuration, spotpool.ScopeOffering, "launch 1 spot PNV4.7XLARGE116 in ap-singapore-2"},
		"throttled: nothing, the same again":   {errorclass.Transient, spotpool.ScopeOffering, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
		"no balance: nothing, the run stops":   {errorclass.Quota, spotpool.ScopePool, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
		"no permission: nothing, it stops too": {errorclass.Authorization, spotpool.ScopePool, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := offered(seen(pool(twoTypes), instance("ins-1")))
			shouldDecide(t, decide.Decide(after(t, s, refused(c.class, c.scope))), c.want)
		})
	}
}

func TestACooldownEnds(t *testing.T) {
	t.Parallel()
	s := after(t, seen(pool(), instance("ins-1")), refused(errorclass.Capacity, spotpool.ScopeOffering))
	s = after(t, s, refused(errorclass.Capacity, spotpool.ScopeOffering))
	p := decide.Decide(s)
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "spot GN7.2XLARGE32 in ap-singapore-2: sold out (Refused), cooling down until 2026-03-01T12:20:00Z")

	s.Now = s.Now.Add(20*time.Minute - time.Second)
	shouldDecide(t, decide.Decide(s))
	s.Now = s.Now.Add(time.Second)
	p = decide.Decide(s)
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	if len(p.Journal.Cooldowns) > 0 {
		t.Errorf("cooldowns that are over stay in the journal: %+v", p.Journal.Cooldowns)
	}
}

func TestARaisedCapIsTriedAtOnce(t *testing.T) {
	t.Parallel()
	capped := func(price string) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) {
			d.Offerings = d.Offerings[:1]
			d.Offerings[0].SpotMaxPrice = yuan(price)
		}
	}
	s := after(t, offered(seen(pool(capped("2.5")), instance("ins-1"))), refused(errorclass.Price, spotpool.ScopeOffering))
	shouldDecide(t, decide.Decide(s))
	s.Declaration = pool(capped("2.4"))
	shouldDecide(t, decide.Decide(s))
	s.Declaration = pool(capped("2.6"))
	shouldDecide(t, decide.Decide(s), "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
}

// A batch is all or nothing: eight wanted where five are left come as 4 and 1.
func TestABatchIsHalvedDownToOne(t *testing.T) {
	t.Parallel()
	d := pool(size(8, 8), func(d *spotpool.Declaration) { d.Offerings = d.Offerings[:1] })
	w := newWorld(d)
	w.markets[spotpool.Market{AvailabilityZone: zone2, InstanceType: t4, ChargeType: spotpool.Spot}].stock = 5
	var asked []int
	_, err := w.run(fault{}, func(_ decide.Situation, p decide.Plan) {
		if len(p.Decisions) > 0 {
			asked = append(asked, p.Decisions[0].Count)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.held(); got != 5 {
		t.Errorf("%d launched of the 5 that were left, asking for %v", got, asked)
	}
	if asked[0] != 8 || asked[1] != 4 || len(asked) > 6 {
		t.Errorf("asked for %v, want 8, 4 and a few more", asked)
	}
}

func TestRestOfABatchUsesAnotherOffering(t *testing.T) {
	t.Parallel()
	s := after(t, seen(pool(size(4, 4))), refused(errorclass.Capacity, spotpool.ScopeOffering))
	shouldDecide(t, decide.Decide(s), "launch 2 spot GN7.2XLARGE32 in ap-singapore-2", "launch 2 spot GN7.2XLARGE32 in ap-singapore-3")
	p := decide.Decide(offered(s, offer(zone2, "2"), offer(zone3, "3", soldOut)))
	shouldDecide(t, p, "launch 2 spot GN7.2XLARGE32 in ap-singapore-2")
	shouldSay(t, "short", p.Short.Texts(), "spot GN7.2XLARGE32 in ap-singapore-2: no more than 2 at once until 2026-03-01T12:20:00Z (Refused)")
}

// A place where an instance was just reclaimed, or failed to launch, comes last,
// and is used all the same where there is no other.
func TestSoftCooldownsOnlyComeLast(t *testing.T) {
	t.Parallel()
	only2 := func(d *spotpool.Declaration) { d.Offerings = d.Offerings[:1] }
	reclaimed := func(d spotpool.Declaration) decide.Situation {
		s := seen(d, instance("ins-1"), instance("ins-2"))
		s.Journal = decide.Decide(s).Journal
		s.Observation.Instances = s.Observation.Instances[:1]
		return s
	}
	failed := func(d spotpool.Declaration) decide.Situation {
		return seen(d, instance("ins-1"), instance("ins-2", inState(spotpool.StateLaunchFailed)))
	}
	for name, c := range map[string]struct {
		situation decide.Situation
		want      string
	}{
		"reclaimed, and there is another zone":     {reclaimed(pool()), "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
		"reclaimed, and there is no other":         {reclaimed(pool(only2)), "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
		"launch failed, and there is another zone": {failed(pool()), "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
		"launch failed, and there is no other":     {failed(pool(only2)), "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"},
		"reclaimed, and the other zone is sold out": {
			offered(reclaimed(pool()), offer(zone2, "2"), offer(zone3, "3", soldOut)), "launch 1 spot GN7.2XLARGE32 in ap-singapore-2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shouldDecide(t, decide.Decide(c.situation), c.want)
		})
	}
}
