package spotpool

import (
	"fmt"
	"slices"
	"time"
)

// Appraisal is what there is to say of one offering, whether a launch is wanted or
// not.
type Appraisal struct {
	Offering
	ChargeType ChargeType `json:"charge_type"`
	Price      Price      `json:"price"` // of the market, an hour; null where it is unknown
	Stock      Stock      `json:"stock,omitempty"`
	VCPUs      int        `json:"vcpus,omitempty"` // that one instance needs
	// SpotVCPUs is what is left of the account's spot quota in the zone; absent where
	// it is unknown, or nothing to the offering.
	SpotVCPUs *int       `json:"spot_vcpus,omitempty"`
	Cooldowns []Cooldown `json:"cooldowns,omitempty"`
	Held      int        `json:"held"`     // instances of the pool that are there
	Launches  int        `json:"launches"` // instances that a run would launch there now
	// Code and Why say why it is passed over; absent where it may launch. What holds
	// the whole pool back is not among them.
	Code  Code      `json:"code,omitempty"`
	Until time.Time `json:"until,omitzero"` // when that ends by itself
	Why   string    `json:"why,omitempty"`
}

// Appraise says of each offering, and each charge type in which the pool may launch,
// what speaks against a launch of one instance there, and what the plan, which was
// made of the situation, does there.
func Appraise(s Situation, plan Plan) []Appraisal {
	if plan.Refusal != "" {
		return nil
	}
	s.Declaration = s.Declaration.WithDefaults()
	s.Observation.Cluster = ofCluster(s.Declaration, s.Observation.Cluster)
	found := ownInstances(s.Declaration, s.Journal, s.Observation, s.Now)
	p := newPlanner(s, found, plan.Journal, matches(s.Declaration, found, s.Observation.Cluster))
	var list []Appraisal
	charges := s.Declaration.chargeTypes()
	slices.SortStableFunc(charges, func(a, b ChargeType) int {
		return trueFirst(a == s.Declaration.InstanceChargeType, b == s.Declaration.InstanceChargeType)
	})
	for _, charge := range charges {
		for index, o := range s.Declaration.Offerings {
			list = append(list, p.appraise(p.candidate(index, o, charge), plan))
		}
	}
	return list
}

func (p *planner) appraise(c *candidate, plan Plan) Appraisal {
	offer := p.offers[c.market]
	a := Appraisal{Offering: c.offering, ChargeType: c.market.ChargeType, Price: offer.Price, Stock: offer.Stock, VCPUs: offer.VCPUs}
	if left, known := p.Observation.SpotVCPUs[c.offering.AvailabilityZone]; known && c.market.ChargeType == Spot {
		a.SpotVCPUs = &left
	}
	for _, cooldown := range plan.Journal.Cooldowns {
		if cooldown.covers(c.offering, c.market.ChargeType) {
			a.Cooldowns = append(a.Cooldowns, cooldown)
		}
	}
	for _, m := range plan.Members {
		if m.held() && m.Market() == c.market {
			a.Held++
		}
	}
	for _, d := range plan.Decisions {
		if d.Kind == KindLaunch && !d.Resume && *d.Offering == c.offering && d.ChargeType == c.market.ChargeType {
			a.Launches += d.Count
		}
	}
	if why := p.against(c, plan, a.Launches > 0); why.code != "" {
		a.Code, a.Until, a.Why = why.code, why.until, why.text
	}
	return a
}

// against is what speaks against one more instance of an offering. Where the plan
// launches there, nothing does.
func (p *planner) against(c *candidate, plan Plan, launches bool) obstacle {
	if launches {
		return obstacle{}
	}
	why := p.consider(c)
	if why.code == "" {
		if n, more := p.fits(c, 1); n == 0 {
			why = more
		}
	}
	if why.code != "" {
		return why
	}
	for _, r := range plan.Short { // beside what the plan launches elsewhere
		if r.Offering != nil && *r.Offering == c.offering && r.ChargeType == c.market.ChargeType {
			return obstacle{code: r.Code, text: r.Text, until: r.Until}
		}
	}
	return obstacle{}
}

// Standing says what an instance counts as, and why.
type Standing struct {
	InstanceID string `json:"instance_id"`
	Held       bool   `json:"held"`
	Capacity   bool   `json:"capacity"`
	Why        string `json:"why"`
	// AsNode says how it fares as a node, and what follows from that; empty where its
	// pool has no nodes, or it is none yet.
	AsNode string `json:"as_node,omitempty"`
}

// Standing is what the instance counts as in its pool.
func (m Member) Standing(launchTimeout Duration) Standing {
	s := Standing{InstanceID: m.ID, Held: m.held(), Capacity: m.capacity()}
	switch m.Condition {
	case Running:
		s.Why = "it runs"
	case Launching:
		s.Why = "it is starting, for less than the launch timeout of " + launchTimeout.String()
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
		s.Why = "it is ending"
	default:
		s.Why = fmt.Sprintf("nothing is done to instances in the state %s", m.State)
	}
	if m.Ending {
		s.Why += "; its end was asked for"
	}
	if m.Doomed() {
		s.Why += "; the cloud takes it back at " + instant(m.TakenAt)
	}
	if m.Replaced() {
		s.Why += "; another is to take its place"
	}
	if why := m.Protection(); why != "" {
		s.Why += "; never ended by the pool, for " + why
	}
	if m.Outdated {
		s.Why += "; of an outdated configuration"
	}
	return s
}
