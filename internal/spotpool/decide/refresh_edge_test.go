package decide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestRefreshWithoutSpareQuota changes the image of a pool that uses its spot quota up, or
// its cost cap, or whose price has risen above it. A refresh must not leave fewer
// working instances than there were, and gets through where only what it ends
// makes room for what it launches.
func TestRefreshWithoutSpareQuota(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := declarations().Draw(t, "declaration")
		d.Maximum = max(1, d.Maximum)
		d.Minimum = rapid.IntRange(1, d.Maximum).Draw(t, "minimum")
		d.MaxHourlyCost, d.OnDemandFallback, d.InstanceChargeType = 0, nil, spotpool.Spot
		d.OnDemandBase = min(d.OnDemandBase, d.Minimum)
		for n := range d.Offerings {
			d.Offerings[n].SpotMaxPrice = 0
		}
		d.Refresh = spotpool.Refresh{
			Strategy: spotpool.RefreshRolling, MaxSurge: rapid.IntRange(0, 2).Draw(t, "max_surge"),
			MaxUnavailable: rapid.IntRange(1, 2).Draw(t, "max_unavailable"),
		}
		w := newWorld(d)
		var log []string
		check := func(s decide.Situation, p decide.Plan) {
			log = append(log, fmt.Sprintf("%s %q total %d, capacity %d, short %q", s.Now.Format(time.TimeOnly), p.Decisions, p.Total, p.Capacity, p.Short))
			if promise := brokenPromise(s, p); promise != "" {
				t.Fatalf("%s\n%s", promise, strings.Join(log, "\n"))
			}
		}
		w.rest(t, check)
		if wrong := w.notHealed(); wrong != "" {
			t.Fatalf("%s\n%s", wrong, strings.Join(log, "\n"))
		}

		stays := false // nothing can be replaced
		switch edge := rapid.SampledFrom([]string{"quota", "cost", "price", "spot sold out"}).Draw(t, "edge"); edge {
		case "quota":
			for _, zone := range []string{zone2, zone3, zone4} {
				w.quota[zone] = 0
				w.quota[zone] = vCPUs * w.spotIn(zone)
			}
		case "cost":
			w.d.MaxHourlyCost = decide.Decide(w.situation(decide.SoFar{})).HourlyPrice
		case "price":
			cost := decide.Decide(w.situation(decide.SoFar{})).HourlyPrice
			w.d.MaxHourlyCost = cost
			for _, m := range w.markets {
				m.price *= 2
			}
			stays = true
		case "spot sold out":
			for key, m := range w.markets {
				if key.ChargeType == spotpool.Spot {
					m.stock = 0
				}
			}
			stays = true
		}
		w.d.ImageID = "img-99999999"
		log = append(log, fmt.Sprintf("the image changes: %+v", w.d))
		w.rest(t, check)
		p := decide.Decide(w.situation(decide.SoFar{}))
		if p.Capacity < d.Minimum {
			t.Fatalf("the refresh left a capacity of %d of %d\n%s", p.Capacity, d.Minimum, strings.Join(log, "\n"))
		}
		if p.Drifted > 0 && !stays {
			t.Fatalf("%d drifted instances are left\n%s", p.Drifted, strings.Join(log, "\n"))
		}
		if n := outdatedOnDemand(p); n > 0 && d.OnDemandBase > 0 && w.d.MaxHourlyCost == 0 {
			t.Fatalf("%d drifted on-demand instances are left, which on-demand ones can replace\n%s", n, strings.Join(log, "\n"))
		}
	})
}

// rest runs the pool until nothing is decided for longer than anything is waited
// for.
func (w *world) rest(t *rapid.T, check func(decide.Situation, decide.Plan)) {
	for round, idle := 0, 0; idle < 8; round++ {
		if round > 300 {
			t.Fatal("the pool never rests")
		}
		decided, err := w.run(fault{}, check)
		if err != nil {
			t.Fatal(err)
		}
		idle++
		if decided > 0 || w.moving() {
			idle = 0
		}
		w.pass(2 * time.Minute)
	}
}

// spotIn counts the pool's spot machines in a zone.
func (w *world) spotIn(zone string) int {
	n := 0
	for _, m := range w.machines {
		if m.launched && m.AvailabilityZone == zone && m.ChargeType == spotpool.Spot && m.State == spotpool.StateRunning {
			n++
		}
	}
	return n
}

func outdatedOnDemand(p decide.Plan) int {
	n := 0
	for _, m := range p.Members {
		if m.Drifted && m.ChargeType == spotpool.OnDemand {
			n++
		}
	}
	return n
}
