package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
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
	// The same as a reason.
	Why reason.Reason `json:"why,omitzero"`
}

// For returns the appraisal as a reader of the pool may see it.
func (a Appraisal) For(reader reason.Renderer) Appraisal {
	a.Why = reader.Redact(a.Why)
	return a
}

// Cost returns the hourly market price.
func (a Appraisal) Cost() spotpool.Cost { return spotpool.Cost{Price: a.Price, Currency: a.Currency} }

// Appraise returns the state of each offering and charge type: whether one more instance
// could be launched, and what the plan of the situation does.
func Appraise(s Situation, plan Plan) []Appraisal {
	if !plan.Refusal.IsZero() {
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
	a.Code, a.Until, a.Why = why.code, why.until, why.why
	for _, r := range plan.Short { // in addition to the plan's launches elsewhere
		if a.Code == "" && r.Offering != nil && *r.Offering == o && r.ChargeType == charge {
			a.Code, a.Until, a.Why = r.Code, r.Until, r.Why
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
	Why reason.Reasons `json:"why"`
	// Its health as a node, and what follows. Absent for a pool without `nodes`.
	AsNode reason.Reasons `json:"as_node,omitempty"`
}

// For returns the standing as a reader of the pool may see it.
func (s Standing) For(reader reason.Renderer) Standing {
	s.Why, s.AsNode = reader.RedactAll(s.Why), reader.RedactAll(s.AsNode)
	return s
}

// Standing returns what the instance counts as in its pool.
func (m Member) Standing(launchTimeout spotpool.Duration) Standing {
	s := Standing{InstanceID: m.ID, Counted: m.counted(), Capacity: m.capacity(), Why: reason.Reasons{m.state(launchTimeout)}}
	if m.Ending {
		s.Why = append(s.Why, reason.InstanceEnding())
	}
	if m.Interrupted() {
		s.Why = append(s.Why, reason.InstanceReclaimed(reason.Instant{Time: m.TakenAt}))
	}
	if m.Replaced() {
		s.Why = append(s.Why, reason.InstanceReplaced())
	}
	if why := m.Protection(); why != "" {
		s.Why = append(s.Why, reason.InstanceProtected(reason.Word(why)))
	}
	if m.Drifted {
		s.Why = append(s.Why, reason.InstanceDrifted())
	}
	return s
}

// state says what its condition means.
func (m Member) state(launchTimeout spotpool.Duration) reason.Reason {
	switch m.Condition {
	case Running:
		return reason.InstanceRuns()
	case Launching:
		if !m.UnlistedUntil.IsZero() {
			return reason.InstanceUnlisted(reason.Instant{Time: m.UnlistedUntil})
		}
		return reason.InstanceStarts(reason.Duration(launchTimeout))
	case Stuck:
		return reason.InstanceStuck(reason.Duration(launchTimeout))
	case Restricted:
		return reason.InstanceRestricted()
	case Stopped:
		return reason.InstanceStopped()
	case Isolated:
		return reason.InstanceIsolated()
	case Failed:
		return reason.InstanceLaunchFailed()
	case Terminating:
		return reason.InstanceTerminating()
	}
	return reason.InstanceUnhandled(reason.Word(m.State))
}
