package decide_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// many is a pool with sixteen offerings. Six are not sold, seven above their price cap, one is
// sold out, one cools down, and one is only above the hourly cap.
func many(changes ...func(*spotpool.Declaration)) decide.Situation {
	named := func(n int) string { return fmt.Sprintf("GN7.%dXLARGE32", n) }
	var offers []spotpool.Offer
	for n := 6; n < 16; n++ {
		price := "1.90"
		if n < 13 {
			price = fmt.Sprintf("%d.09", 14-n)
		}
		offers = append(offers, offer(zone2, price, func(o *spotpool.Offer) {
			if o.InstanceType = named(n); n == 13 {
				o.Stock = spotpool.StockNone
			}
		}))
	}
	d := pool(func(d *spotpool.Declaration) {
		d.Offerings, d.MaxHourlyCost = nil, yuan("1")
		for n := range 16 {
			o := offering(zone2, named(n))
			o.SpotMaxPrice = yuan("2")
			d.Offerings = append(d.Offerings, o)
		}
	})
	cooling := markets.Cooldown{Market: d.Offerings[14].Market(spotpool.Spot), Cause: markets.CausedBySoldOut, Until: noon.Add(20 * time.Minute)}
	for _, change := range changes {
		change(&d)
	}
	s := offered(seen(d), offers...)
	s.Journal.Cooldowns = []markets.Cooldown{cooling}
	return s
}

func TestReasonsAreData(t *testing.T) {
	t.Parallel()
	p := decide.Decide(many())
	counts := map[spotpool.Code]int{}
	for _, reason := range p.Short {
		if counts[reason.Code]++; reason.Offering == nil || reason.ChargeType != spotpool.Spot || reason.Why.String() == "" {
			t.Errorf("a reason of an offering is %+v", reason)
		}
	}
	want := map[spotpool.Code]int{
		spotpool.BecauseNotSold: 6, spotpool.BecauseAboveMaxPrice: 7, spotpool.BecauseSoldOut: 1, spotpool.BecauseCooldown: 1, spotpool.BecauseHourlyCap: 1,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("reasons by code (-want +got):\n%s", diff)
	}
	text, err := json.Marshal(p.Short[6])
	if want := `{"code":"above_max_price","offering":{"availability_zone":"ap-singapore-2","instance_type":"GN7.6XLARGE32"`; err != nil ||
		!strings.HasPrefix(string(text), want) {
		t.Errorf("%v, %s, want %s…", err, text, want)
	}
	suffix := `"charge_type":"SPOTPAID","price":"8.09","currency":"CNY","why":{"code":"above_spot_max_price",` +
		`"args":{"price":{"amount":"8.09","currency":"CNY"},"spot_max_price":{"amount":"2.00"}},` +
		`"text":"the market price of 8.09 CNY an hour is above spot_max_price 2.00"}}`
	if !strings.HasSuffix(string(text), suffix) {
		t.Errorf("%s, want …%s", text, suffix)
	}
}

func TestBindingCauseIsFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		s    decide.Situation
		want []string
	}{
		"the offering that is nearest to a launch, and counts of all": {many(), []string{
			"spot GN7.15XLARGE32 in ap-singapore-2: 1.90 CNY an hour in addition to the pool's 0.00 would exceed max_hourly_cost 1.00",
			"16 spot offerings skipped: above max_hourly_cost: 1; cooling down: 1, first until 2026-03-01T12:20:00Z; above spot_max_price: 7, cheapest " +
				"2.09 CNY; sold out: 1; not sold: 6",
		}},
		"what else there is of the pool": {many(func(d *spotpool.Declaration) {
			d.OnDemandFallback = &spotpool.OnDemandFallback{After: spotpool.Duration(30 * time.Minute), Maximum: 1}
			d.MaxLaunchesPerRun = 1
		}), []string{
			"spot GN7.15XLARGE32 in ap-singapore-2: 1.90 CNY an hour in addition to the pool's 0.00 would exceed max_hourly_cost 1.00",
			"16 spot offerings skipped: above max_hourly_cost: 1; cooling down: 1, first until 2026-03-01T12:20:00Z; above spot_max_price: 7, cheapest " +
				"2.09 CNY; sold out: 1; not sold: 6",
			"max_launches_per_run is 1: 1 more to be launched by the next run; on-demand instances take over at 2026-03-01T12:30:00Z",
		}},
		"the cheapest of those above their price cap": {many(func(d *spotpool.Declaration) { d.Offerings = d.Offerings[:14] }), []string{
			"spot GN7.12XLARGE32 in ap-singapore-2: the market price of 2.09 CNY an hour is above spot_max_price 2.00",
			"14 spot offerings skipped: above spot_max_price: 7, cheapest 2.09 CNY; sold out: 1; not sold: 6",
		}},
		"few as they are": {many(func(d *spotpool.Declaration) {
			d.Offerings = []spotpool.Offering{d.Offerings[0], d.Offerings[13], d.Offerings[12]}
		}), []string{
			"spot GN7.12XLARGE32 in ap-singapore-2: the market price of 2.09 CNY an hour is above spot_max_price 2.00",
			"spot GN7.13XLARGE32 in ap-singapore-2: sold out: Tencent Cloud has no stock",
			"spot GN7.0XLARGE32 in ap-singapore-2: not sold: the zone does not offer it",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, decide.Decide(tt.s).Short.Brief().Texts()); diff != "" {
				t.Errorf("it says (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStuckInstancesAreNamedAsWhatTakesTheRoom(t *testing.T) {
	t.Parallel()
	stuck := func(i *spotpool.Instance) { i.State, i.LaunchedAt = spotpool.StatePending, ago(time.Hour) }
	p := decide.Decide(seen(pool(size(2, 2)), instance("ins-1", stuck), instance("ins-2")))
	shouldDecide(t, p)
	want := spotpool.Reasons{{
		Code: spotpool.BecauseLaunchTimeout,
		Why:  reason.NoRoomWhileStarting(reason.NoRoom(2, 2, 1), 1, reason.Duration(15*time.Minute)),
	}}
	if diff := cmp.Diff(want, p.Short); diff != "" {
		t.Errorf("it is short (-want +got):\n%s", diff)
	}
}

// TestEveryReasonHasACode decides in all kinds of situations: a pool that stays short
// says why, by a code of the list, in at most three lines.
func TestEveryReasonHasACode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := decide.Decide(situations().Draw(t, "situation"))
		for _, reason := range p.Short {
			if !slices.Contains(spotpool.Codes(), reason.Code) || reason.Why.String() == "" {
				t.Fatalf("the reason %+v has no code of the list", reason)
			}
		}
		brief := p.Short.Brief().Texts()
		if len(brief) > 3 || len(brief) == 0 && len(p.Short) > 0 {
			t.Fatalf("%d reasons are printed as %q", len(p.Short), brief)
		}
		if len(brief) > 0 && !slices.Contains(p.Short.Texts(), brief[0]) {
			t.Fatalf("%q is none of the reasons %q", brief[0], p.Short.Texts())
		}
	})
}

// TestAppraisalsAgreeWithThePlan appraises the offerings in all kinds of situations. There is
// one for each, launches are those of the plan, and a skipped offering has the plan's reason.
func TestAppraisalsAgreeWithThePlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		p := decide.Decide(s)
		list := decide.Appraise(s, p)
		launches := 0
		for _, d := range p.Decisions {
			if d.Kind == spotpool.KindLaunch && !d.Resume {
				launches += d.Count
			}
		}
		if offerings := len(s.Declaration.Offerings); p.Refusal.IsZero() && (len(list) == 0 || len(list)%offerings != 0) {
			t.Fatalf("%d appraisals of %d offerings", len(list), offerings)
		}
		for _, a := range list {
			launches -= a.Launches
			if a.Launches > 0 && a.Code != "" {
				t.Fatalf("%+v is launched in and passed over", a)
			}
			for _, reason := range p.Short {
				if reason.Offering != nil && *reason.Offering == a.Offering && reason.ChargeType == a.ChargeType && a.Launches == 0 && a.Code == "" {
					t.Fatalf("the plan passes over %+v for %+v", a, reason)
				}
			}
		}
		if launches != 0 {
			t.Fatalf("%d launches of the plan are in no appraisal", launches)
		}
	})
}
