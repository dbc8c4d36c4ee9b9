package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// View is the input of rules: a situation, and what follows from it before anything is
// decided. Its journal is up to date with the observation, and its declaration is the one
// that counts now, see [View.drainForBudget]. No rule changes it.
type View struct {
	Situation
	offers      map[spotpool.Market]spotpool.Offer
	bounds      spotpool.Bounds // of the declaration as it stands
	counts      spotpool.Counts // as observed, by these bounds
	nodes       *PoolNodes      // nil if the pool has none
	interrupted []Member        // Tencent Cloud reclaims them soon
	doubtful    []string        // instances with the pool's uid and contradictory data
	unseen      int             // instances that pending launches may have launched and no observation found yet
	unpriced    string          // a counted instance, or a pending launch, whose price is unknown
	drainReason reason.Reason   // why no instances are desired now; zero if minimum counts
}

// begin returns the view of a situation, and the tally before anything is decided.
func begin(s Situation, u journal.Update) (View, Tally) {
	j := u.Journal
	s.Journal = j
	v := View{
		Situation: s, offers: spotpool.OffersByMarket(s.Observation.Offers), doubtful: contradictions(s.Declaration, s.Observation), unseen: j.Missing(),
		bounds: s.Declaration.Bounds(),
	}
	t := Tally{members: members(s, u, v.offers), sequence: j.LastSequence, cooldowns: j.Cooldowns}
	v.counts = count(v.bounds, t.members, v.unseen)
	v.interrupted = slices.DeleteFunc(slices.Clone(t.members), func(m Member) bool { return !m.Interrupted() })
	t.total, t.capacity, t.coming = v.counts.Total, v.counts.Capacity, v.counts.Capacity
	t.byCharge, t.byZone = map[spotpool.ChargeType]int{}, map[string]int{}
	for _, m := range t.members {
		if !m.counted() {
			continue
		}
		t.byCharge[m.ChargeType]++
		t.byZone[m.AvailabilityZone]++
		price := v.costOf(m)
		if t.spent += price; price == 0 && v.unpriced == "" {
			v.unpriced = m.ID
		}
		if m.runs() {
			t.running++
		}
		if m.Available {
			t.available++
		}
	}
	for _, intent := range j.Pending {
		o, charge := intent.Request.Offering, intent.Request.ChargeType
		if v.unpriced == "" && intent.Missing() > 0 && v.priceOf(o, charge) == 0 {
			v.unpriced = "a pending launch"
		}
		t = t.reserve(v, o, charge, intent.Missing())
	}
	v.nodes = poolNodes(v, t.members)
	return v, t
}

// priceOf returns the highest price of an instance of an offering: the market price, or the
// cap while that is unknown.
func (v View) priceOf(o spotpool.Offering, charge spotpool.ChargeType) spotpool.Price {
	if price := v.offers[o.Market(charge)].Price; price > 0 || charge != spotpool.Spot {
		return price
	}
	return o.SpotMaxPrice
}

// costOf returns the highest price of a member: its market price, the last known one, or the cap of
// its launch. It is 0 if none of these is known.
func (v View) costOf(m Member) spotpool.Price {
	if m.Price > 0 {
		return m.Price
	}
	if last := v.Journal.Prices.Of(m.Market()).In(v.Declaration.Currency); last > 0 {
		return last
	}
	for _, o := range v.Declaration.Offerings {
		if o.Market(spotpool.Spot) == m.Market() {
			return o.SpotMaxPrice
		}
	}
	return 0
}

// heldBack returns why nothing is launched now; empty if launches are possible.
func (v View) heldBack() (code spotpool.Code, why reason.Reason) {
	switch {
	case v.Gate.Closed && v.Gate.Undeclared:
		return spotpool.BecauseGateUndeclared, v.Gate.Reason
	case v.Gate.Closed && v.Gate.Unknown:
		return spotpool.BecauseGateUnknown, v.Gate.Reason
	case v.Gate.Closed:
		return spotpool.BecauseGate, v.Gate.Reason
	case len(v.doubtful) > 0:
		return spotpool.BecauseContradiction, reason.AmbiguousInstances(v.doubtful)
	case !v.Journal.LostAt.IsZero():
		return spotpool.BecauseJournalLost, v.Journal.LossReason()
	case v.SoFar.Halted != "":
		return spotpool.BecauseRefused, reason.LaunchRefused(reason.NewForeign(v.SoFar.Halted))
	}
	return "", why
}

// mayLaunch reports whether launches are possible.
func (v View) mayLaunch() bool {
	code, _ := v.heldBack()
	return code == ""
}

// drains reports whether no instances are desired now.
func (v View) drains() bool { return !v.drainReason.IsZero() }

// retries reports whether a pending launch is requested again.
func (v View) retries(i launches.Launch) bool {
	return v.Hold == nil && v.SoFar.Halted == "" && i.Retryable()
}

// clusterNow returns the time by the cluster's clock, by which tokens expire, if the cluster
// was observed.
func (v View) clusterNow() time.Time {
	if v.Observation.Cluster.Observed() {
		return v.Observation.Cluster.At
	}
	return v.Now
}

// contradictions returns the instances with the pool's uid and contradictory data, such as a
// zone of another region. They may be the pool's, so nothing is launched.
func contradictions(d spotpool.Declaration, o spotpool.Observation) []string {
	var ids []string
	for _, i := range o.Instances {
		if d.UID != "" && i.PoolUID == d.UID && i.Region == "" {
			ids = append(ids, i.ID+" in "+i.AvailabilityZone)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
