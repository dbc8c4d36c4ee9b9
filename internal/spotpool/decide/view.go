package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// View is what rules decide by: a situation, and what follows from it before anything is
// decided. An Observation is only what was read of the cloud and the cluster; a view also
// has the declaration, the journal and the gate. No rule changes it. Its journal is up to date with the observation, and its
// declaration is the one that counts now, see [View.drainedForBudget].
type View struct {
	Situation
	offers   map[spotpool.Market]spotpool.Offer
	counts   spotpool.Counts // as observed, by the declaration as it stands
	nodes    *PoolNodes      // nil if the pool has none
	doomed   []Member        // Tencent Cloud reclaims them soon
	doubtful []string        // instances with the pool's uid that contradict themselves
	unseen   int             // instances that pending launches may have launched and no observation found yet
	unpriced string          // a held instance whose price is unknown
	emptied  string          // why no instance is wanted now; empty while minimum is
}

// begin is the view of a situation, and the tally before anything is decided.
func begin(s Situation, u journal.Update) (View, Tally) {
	j := u.Journal
	s.Journal = j
	v := View{
		Situation: s, offers: spotpool.OffersByMarket(s.Observation.Offers), doubtful: contradictions(s.Declaration, s.Observation), unseen: j.Missing(),
	}
	t := Tally{members: members(s, u, v.offers), sequence: j.LastSequence}
	v.counts = count(s.Declaration, t.members, v.unseen)
	v.doomed = slices.DeleteFunc(slices.Clone(t.members), func(m Member) bool { return !m.Doomed() })
	t.total, t.capacity, t.coming = v.counts.Held, v.counts.Capacity, v.counts.Capacity
	t.byCharge, t.byZone = map[spotpool.ChargeType]int{}, map[string]int{}
	for _, m := range t.members {
		if !m.held() {
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
		t = t.reserve(v, intent.Request.Offering, intent.Request.ChargeType, intent.Missing())
	}
	v.nodes = poolNodes(v, t.members)
	return v, t
}

// priceOf is what an instance of an offering costs at most: its market price,
// or its cap while that is unknown.
func (v View) priceOf(o spotpool.Offering, charge spotpool.ChargeType) spotpool.Price {
	if price := v.offers[o.Market(charge)].Price; price > 0 || charge != spotpool.Spot {
		return price
	}
	return o.SpotMaxPrice
}

// costOf is what a member costs at most: its market price, or the cap it was
// launched under while that is unknown.
func (v View) costOf(m Member) spotpool.Price {
	if m.Price > 0 {
		return m.Price
	}
	for _, o := range v.Declaration.Offerings {
		if o.Market(spotpool.Spot) == m.Market() {
			return o.SpotMaxPrice
		}
	}
	return 0
}

// heldBack says why nothing is launched now; empty if something may be.
func (v View) heldBack() (spotpool.Code, string) {
	switch {
	case v.Gate.Closed && v.Gate.Undeclared:
		return spotpool.BecauseGateUndeclared, v.Gate.Reason
	case v.Gate.Closed && v.Gate.Unknown:
		return spotpool.BecauseGateUnknown, v.Gate.Reason
	case v.Gate.Closed:
		return spotpool.BecauseGate, v.Gate.Reason
	case len(v.doubtful) > 0:
		return spotpool.BecauseContradiction, v.contradicted()
	case !v.Journal.LostAt.IsZero():
		return spotpool.BecauseJournalLost, v.Journal.WhyLost()
	case v.SoFar.Halted != "":
		return spotpool.BecauseRefused, v.SoFar.Halted
	}
	return "", ""
}

// mayLaunch reports whether nothing holds launches back.
func (v View) mayLaunch() bool {
	code, _ := v.heldBack()
	return code == ""
}

// contradicted says which instances may be the pool's or not; empty if there are none.
func (v View) contradicted() string {
	if len(v.doubtful) == 0 {
		return ""
	}
	it := wording.Plural(len(v.doubtful), "it", "them")
	return fmt.Sprintf("%s %s this pool's uid, and what the cloud says of %s contradicts itself: nothing is launched beside %s. Look at %s in the console, "+
		"and take the tag gpupool/uid off what is not the pool's", wording.Some(v.doubtful), wording.Plural(len(v.doubtful), "carries", "carry"), it, it, it)
}

// resumes reports whether the launch of an intent is requested again.
func (v View) resumes(i launches.Launch) bool {
	return v.Hold == nil && v.SoFar.Halted == "" && i.Repeatable()
}

// clusterNow is the time by the cluster's clock, which tokens go by, if the cluster was
// observed.
func (v View) clusterNow() time.Time {
	if v.Observation.Cluster.Seen() {
		return v.Observation.Cluster.At
	}
	return v.Now
}

// contradictions are the instances that carry the pool's uid and whose other values
// contradict each other, such as a zone of another region. They are no pool's own,
// and yet they exist: nothing is launched beside them.
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
