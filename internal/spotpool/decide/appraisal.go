package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Appraisal is the state of one offering, whether instances are missing or not.
type Appraisal struct {
	spotpool.Offering
	// The charge type.
	ChargeType spotpool.ChargeType `json:"charge_type"`
	// The hourly market price. Null if unknown.
	Price spotpool.Price `json:"price"`
	// The currency of the prices. Absent if unknown.
	Currency spotpool.Currency `json:"currency,omitempty"`
	// The stock, as Tencent Cloud reports it.
	Stock spotpool.Stock `json:"stock,omitempty"`
	// The vCPUs of an instance.
	VCPUs int `json:"vcpus,omitempty"`
	// The vCPUs left of the account's spot quota in the zone. Absent if unknown.
	SpotVCPUs *int `json:"spot_vcpus,omitempty"`
	// Its cooldowns.
	Cooldowns []markets.Cooldown `json:"cooldowns,omitempty"`
	// The pool's instances of this offering.
	Total int `json:"total"`
	// The instances that a run would launch here now.
	Launches int `json:"launches"`
	// Why it is skipped. Absent if it may launch.
	Code spotpool.Code `json:"code,omitempty"`
	// When that ends, if it does.
	Until time.Time `json:"until,omitzero"`
	// The same reason as text.
	Why string `json:"why,omitempty"`
}

// Cost returns the hourly market price.
func (a Appraisal) Cost() spotpool.Cost { return spotpool.Cost{Price: a.Price, Currency: a.Currency} }

// Appraise returns the state of each offering and charge type: whether one more instance
// could be launched, and what the plan of the situation does.
func Appraise(s Situation, plan Plan) []Appraisal {
	if plan.Refusal != "" {
		return nil
	}
	s.Declaration = s.Declaration.WithDefaults()
	v, t, _ := prepare(s)
	var list []Appraisal
	charges := s.Declaration.ChargeTypes()
	slices.SortStableFunc(charges, func(a, b spotpool.ChargeType) int {
		return trueFirst(a == s.Declaration.InstanceChargeType, b == s.Declaration.InstanceChargeType)
	})
	for _, charge := range charges {
		for index, o := range s.Declaration.Offerings {
			list = append(list, appraise(v, t, index, o, charge, plan))
		}
	}
	return list
}

func appraise(v View, t Tally, index int, o spotpool.Offering, charge spotpool.ChargeType, plan Plan) Appraisal {
	c, why := consider(v, t, index, o, charge)
	offer := v.offers[c.market]
	a := Appraisal{Offering: o, ChargeType: charge, Price: offer.Price, Currency: v.Declaration.Currency, Stock: offer.Stock, VCPUs: offer.VCPUs}
	if left, known := v.Observation.SpotVCPUs[o.AvailabilityZone]; known && charge == spotpool.Spot {
		a.SpotVCPUs = &left
	}
	for _, cooldown := range plan.Journal.Cooldowns {
		if cooldown.Covers(o, charge) {
			a.Cooldowns = append(a.Cooldowns, cooldown)
		}
	}
	for _, m := range plan.Members {
		if m.counted() && m.Market() == c.market {
			a.Total++
		}
	}
	for _, d := range plan.Decisions {
		if d.Kind == spotpool.KindLaunch && !d.Resume && *d.Offering == o && d.ChargeType == charge {
			a.Launches += d.Count
		}
	}
	if a.Launches > 0 {
		return a
	}
	if why.code == "" {
		if n, more := fits(v, t, c, 1); n == 0 {
			why = more
		}
	}
	a.Code, a.Until, a.Why = why.code, why.until, why.why.String()
	for _, r := range plan.Short { // in addition to the plan's launches elsewhere
		if a.Code == "" && r.Offering != nil && *r.Offering == o && r.ChargeType == charge {
			a.Code, a.Until, a.Why = r.Code, r.Until, r.Why.String()
		}
	}
	return a
}

// Standing says what an instance counts as, and why.
type Standing struct {
	// The instance.
	InstanceID string `json:"instance_id"`
	// Whether it counts toward the maximum.
	Counted bool `json:"counted"`
	// Whether it counts toward the minimum.
	Capacity bool `json:"capacity"`
	// Why it counts, or does not.
	Why string `json:"why"`
	// Its health as a node, and what follows. Absent for a pool without `nodes`.
	AsNode string `json:"as_node,omitempty"`
}

// Standing returns what the instance counts as in its pool.
func (m Member) Standing(launchTimeout spotpool.Duration) Standing {
	s := Standing{InstanceID: m.ID, Counted: m.counted(), Capacity: m.capacity()}
	switch m.Condition {
	case Running:
		s.Why = "it runs"
	case Launching:
		s.Why = "it is starting, for less than the launch timeout of " + launchTimeout.String()
		if !m.UnlistedUntil.IsZero() {
			s.Why = fmt.Sprintf("its launch was accepted, and no listing shows it yet: it counts as lost from %s on", wording.Instant(m.UnlistedUntil))
		}
	case Stuck:
		s.Why = "it has been starting for longer than the launch timeout of " + launchTimeout.String()
	case Restricted:
		s.Why = "it runs, but is restricted: expired or isolated"
	case Stopped:
		s.Why = "it is stopped"
	case Isolated:
		s.Why = "it is in the recycle bin, and will be destroyed"
	case Failed:
		s.Why = "its launch failed"
	case Terminating:
		s.Why = "it is terminating"
	default:
		s.Why = fmt.Sprintf("nothing is done to instances in the state %s", m.State)
	}
	if m.Ending {
		s.Why += "; its termination was requested"
	}
	if m.Interrupted() {
		s.Why += "; Tencent Cloud reclaims it at " + wording.Instant(m.TakenAt)
	}
	if m.Replaced() {
		s.Why += "; it is being replaced"
	}
	if why := m.Protection(); why != "" {
		s.Why += "; never terminated, because of " + why
	}
	if m.Drifted {
		s.Why += "; its configuration has drifted"
	}
	return s
}
