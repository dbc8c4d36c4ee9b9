package spotpool

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// planner gathers the decisions of one plan. Its numbers change as decisions are
// added, so that later ones see the effect of earlier ones.
type planner struct {
	Situation
	plan   Plan
	offers map[Market]Offer

	unseen   int // instances that open intents may have launched and nobody found yet
	launched int // instances that this plan's new launches ask for
	running  int // instances that work, and whose end was not asked for
	// available are those of them that a refresh counts on.
	available int
	coming    int // the capacity once everything asked for and decided works

	ending   map[string]bool
	byCharge map[ChargeType]int // held and asked for, less what ends
	byZone   map[string]int     // likewise
	asked    map[Market]int     // by this plan's new launches
	vCPUs    map[string]int     // spot vCPUs asked for, by zone
	spent    Price              // an hour: held and asked for
	unpriced string             // a held instance whose price is unknown
	sequence int64              // the last one used
	seqTags  map[int64]bool     // values of gpupool/seq that are in use; nil until one is wanted
	doubtful []string           // instances with the pool's uid that contradict themselves
	wanted   map[string]bool    // members whose ends wait for their drains
	paused   bool               // replacements go on in a later plan
	emptied  string             // why no instance is wanted now; empty where minimum is
}

func newPlanner(s Situation, found []ownInstance, j Journal, of node.Matches) *planner {
	p := &planner{
		Situation: s, offers: OffersByMarket(s.Observation.Offers),
		ending: map[string]bool{}, byCharge: map[ChargeType]int{}, byZone: map[string]int{}, asked: map[Market]int{}, vCPUs: map[string]int{},
		sequence: j.LastSequence, wanted: map[string]bool{},
	}
	for _, intent := range j.Intents {
		r, n := intent.Request, intent.missing()
		p.unseen += n
		p.reserve(r.Offering, r.ChargeType, n)
	}
	list := members(s, found, j, of, p.offers)
	p.plan = Plan{Counts: count(s.Declaration, list, p.unseen), Members: list, Journal: j}
	p.doubtful = contradictions(s.Declaration, s.Observation)
	p.coming += p.plan.Capacity
	for _, m := range list {
		if !m.held() {
			continue
		}
		p.byCharge[m.ChargeType]++
		p.byZone[m.AvailabilityZone]++
		price := p.costOf(m)
		if p.spent += price; price == 0 && p.unpriced == "" {
			p.unpriced = m.ID
		}
		if m.runs() {
			p.running++
		}
		if m.Available {
			p.available++
		}
	}
	return p
}

// reserve counts n instances of an offering as coming.
func (p *planner) reserve(o Offering, charge ChargeType, n int) {
	p.coming += n
	p.byCharge[charge] += n
	p.byZone[o.AvailabilityZone] += n
	p.spent += Price(n) * p.priceOf(o, charge)
	if charge == Spot {
		p.vCPUs[o.AvailabilityZone] += n * p.offers[o.Market(charge)].VCPUs
	}
}

// priceOf is what an instance of an offering costs at most: its market price,
// or its cap while that is unknown.
func (p *planner) priceOf(o Offering, charge ChargeType) Price {
	if price := p.offers[o.Market(charge)].Price; price > 0 || charge != Spot {
		return price
	}
	return o.MaxPrice
}

// costOf is what a member costs at most: its market price, or the cap it was
// launched under while that is unknown.
func (p *planner) costOf(m Member) Price {
	if m.Price > 0 {
		return m.Price
	}
	for _, o := range p.Declaration.Offerings {
		if o.Market(Spot) == m.Market() {
			return o.MaxPrice
		}
	}
	return 0
}

// room is how many more instances may be launched. What this plan ends is still held:
// it makes room once a later look shows it gone.
func (p *planner) room() int {
	d := p.Declaration
	return max(0, min(d.Maximum-p.plan.Held-p.launched, d.MaxLaunchesPerRun-p.SoFar.Launched-p.launched))
}

// note notes a reason why the pool stays as it is, unless it was noted before.
func (p *planner) note(r Reason) {
	if !p.noted(r) {
		p.plan.Short = append(p.plan.Short, r)
	}
}

func (p *planner) noted(r Reason) bool {
	text := r.String()
	return slices.ContainsFunc(p.plan.Short, func(other Reason) bool { return other.String() == text })
}

// short notes a reason that is the whole pool's.
func (p *planner) short(code Code, format string, args ...any) {
	p.note(Reason{Code: code, Text: fmt.Sprintf(format, args...)})
}

func (p *planner) warnf(format string, args ...any) {
	p.plan.Warnings = append(p.plan.Warnings, fmt.Sprintf(format, args...))
}

// resume decides to repeat each launch whose outcome is unknown, unless some of its
// instances were found: then it took effect, and the others will be found.
func (p *planner) resume() {
	for _, intent := range p.plan.Journal.Intents {
		r := intent.Request
		if !intent.repeatable() {
			p.short(BecauseOpenLaunch, "launch %d shows %d of its %d instances so far", r.Sequence, len(intent.Seen), r.Count)
			continue
		}
		p.plan.Decisions = append(p.plan.Decisions, Decision{
			Kind: KindLaunch, Object: p.Declaration.Object(), Count: r.Count,
			Offering: &r.Offering, ChargeType: r.ChargeType, Sequence: r.Sequence, Token: r.Token,
			Resume: true, Request: &r,
			Reasons: []string{fmt.Sprintf("launch %d was written down at %s and its outcome is unknown: the same request gives the same instances", r.Sequence,
				instant(intent.WrittenAt))},
		})
	}
}
