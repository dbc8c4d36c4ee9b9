package decide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// appraisals are those of a situation, one line each.
func appraisals(s decide.Situation) []string {
	var list []string
	for _, a := range decide.Appraise(s, decide.Decide(s)) {
		line := fmt.Sprintf("%s %s: %d of it, launches %d", a.AvailabilityZone, strings.ToLower(string(a.ChargeType)), a.Total, a.Launches)
		if a.SpotVCPUs != nil {
			line += fmt.Sprintf(", %d vCPUs left", *a.SpotVCPUs)
		}
		if len(a.Cooldowns) > 0 {
			line += fmt.Sprintf(", %d cooldowns", len(a.Cooldowns))
		}
		if a.Code != "" {
			line += fmt.Sprintf(", %s: %s", a.Code, a.Why)
		}
		if !a.Until.IsZero() {
			line += ", until " + a.Until.Format(time.TimeOnly)
		}
		list = append(list, line)
	}
	return list
}

func TestAppraise(t *testing.T) {
	t.Parallel()
	fallback := func(d *spotpool.Declaration) { d.OnDemandFallback = &spotpool.OnDemandFallback{} }
	atMost := func(price string) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) { d.MaxHourlyCost = yuan(price) }
	}
	for name, tt := range map[string]struct {
		in   decide.Situation
		want []string
	}{
		"the first launches": {
			seen(pool()),
			[]string{"ap-singapore-2 spotpaid: 0 of it, launches 2", "ap-singapore-3 spotpaid: 0 of it, launches 0"},
		},
		"nothing is missing": {
			seen(pool(), instance("ins-1"), instance("ins-2", inZone(zone3)), instance("ins-3", inZone(zone3)),
				instance("ins-4", inState(spotpool.StateTerminating))),
			[]string{"ap-singapore-2 spotpaid: 1 of it, launches 0", "ap-singapore-3 spotpaid: 2 of it, launches 0"},
		},
		"sold out": {
			offered(seen(pool()), offer(zone2, "2", soldOut), offer(zone3, "3")),
			[]string{
				"ap-singapore-2 spotpaid: 0 of it, launches 0, sold_out: sold out: Tencent Cloud has no stock",
				"ap-singapore-3 spotpaid: 0 of it, launches 2",
			},
		},
		"spot instances come before on-demand ones": {
			seen(pool(fallback), instance("ins-1"), instance("ins-2", inZone(zone3), onDemand)),
			[]string{
				"ap-singapore-2 spotpaid: 1 of it, launches 1", "ap-singapore-3 spotpaid: 0 of it, launches 0",
				"ap-singapore-2 postpaid_by_hour: 0 of it, launches 0", "ap-singapore-3 postpaid_by_hour: 1 of it, launches 0",
			},
		},
		"a cap below all prices": {
			seen(pool(atMost("3")), instance("ins-1")),
			[]string{
				"ap-singapore-2 spotpaid: 1 of it, launches 0, hourly_cap: 2.00 CNY an hour in addition to the pool's 2.00 would exceed max_hourly_cost 3.00",
				"ap-singapore-3 spotpaid: 0 of it, launches 0, hourly_cap: 3.00 CNY an hour in addition to the pool's 2.00 would exceed max_hourly_cost 3.00",
			},
		},
		"a spot quota": {
			quota(seen(pool(fallback), instance("ins-1")), 7, 8),
			[]string{
				"ap-singapore-2 spotpaid: 1 of it, launches 0, 7 vCPUs left, " +
					"quota: the account's spot quota in ap-singapore-2 has 7 vCPUs left, and one instance needs 8",
				"ap-singapore-3 spotpaid: 0 of it, launches 1, 8 vCPUs left",
				"ap-singapore-2 postpaid_by_hour: 0 of it, launches 0", "ap-singapore-3 postpaid_by_hour: 0 of it, launches 0",
			},
		},
		"a part fits, and the plan says why the rest does not": {
			quota(seen(pool(size(4, 4))), 8, 16),
			[]string{
				"ap-singapore-2 spotpaid: 0 of it, launches 1, 8 vCPUs left", "ap-singapore-3 spotpaid: 0 of it, launches 2, 16 vCPUs left",
			},
		},
		"cooldowns": {
			cooling(seen(pool()),
				markets.Cooldown{Market: offer(zone2, "2").Market, Cause: markets.CausedBySoldOut, Until: noon.Add(time.Minute)},
				markets.Cooldown{Market: offer(zone4, "2").Market, Cause: markets.CausedBySoldOut, Until: noon.Add(time.Minute)}),
			[]string{
				"ap-singapore-2 spotpaid: 0 of it, launches 0, 1 cooldowns, cooldown: sold out, cooling down until 2026-03-01T12:01:00Z, until 12:01:00",
				"ap-singapore-3 spotpaid: 0 of it, launches 2",
			},
		},
	} {
		if diff := cmp.Diff(tt.want, appraisals(tt.in)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// quota sets the vCPUs that are left in the two zones.
func quota(s decide.Situation, inZone2, inZone3 int) decide.Situation {
	s.Observation.SpotVCPUs = map[string]int{zone2: inZone2, zone3: inZone3}
	return s
}

func cooling(s decide.Situation, cooldowns ...markets.Cooldown) decide.Situation {
	s.Journal.Cooldowns = cooldowns
	return s
}
