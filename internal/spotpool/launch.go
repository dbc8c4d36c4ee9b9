package spotpool

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// launch decides launches of up to n instances, and returns how many it decided.
// Where these are fewer than n, the plan says why each of the other offerings was
// passed over.
func (p *planner) launch(n int, charge ChargeType, refresh bool, reasons []string) int {
	n = min(n, p.room())
	if n <= 0 {
		return 0
	}
	list, passed := p.candidates(charge)
	total := 0
	for total < n && len(list) > 0 {
		best := p.best(list)
		count, why := p.fits(best, n-total)
		if count == 0 {
			passed = append(passed, passedOver{best, why})
			list = slices.DeleteFunc(list, func(other *candidate) bool { return other == best })
			continue
		}
		if p.Declaration.AllocationStrategy == Balanced && len(list) > 1 {
			count = 1
		}
		p.add(best, count, refresh, reasons, p.choice(best, list, passed))
		p.asked[best.market] += count
		total += count
	}
	if total < n {
		for _, o := range passed {
			p.note(o.reason())
		}
	}
	return total
}

// add decides a launch of n, or adds them to a launch that goes to the same place for
// the same reasons.
func (p *planner) add(to *candidate, n int, refresh bool, reasons, choice []string) {
	p.launched += n
	p.reserve(to.offering, to.market.ChargeType, n)
	for i := range p.plan.Decisions {
		d := &p.plan.Decisions[i]
		if d.Kind != KindLaunch || d.Resume || d.Refresh != refresh || *d.Offering != to.offering || d.ChargeType != to.market.ChargeType ||
			d.Reasons[0] != reasons[0] {
			continue
		}
		more := min(n, MaxBatch-d.Count)
		d.Count += more
		d.Request.Count += more
		n -= more
	}
	for ; n > 0; n -= min(n, MaxBatch) {
		p.plan.Decisions = append(p.plan.Decisions, p.newLaunch(to, min(n, MaxBatch), refresh, slices.Concat(reasons, choice)))
	}
}

func (p *planner) newLaunch(to *candidate, n int, refresh bool, reasons []string) Decision {
	p.sequence++
	d := p.Declaration
	offering := to.offering
	if to.market.ChargeType != Spot {
		offering.MaxPrice = 0
	}
	request := &Request{
		Region: d.Region, Pool: d.Name, UID: d.UID, Sequence: p.sequence, SeqTag: p.freeSeqTag(), Token: Token(d.UID, p.plan.Journal.Salt, p.sequence),
		Offering: offering, ChargeType: to.market.ChargeType, Count: n, Configuration: d.Configuration,
		ConfigurationTag: ConfigurationTag(d.Configuration, offering, to.market.ChargeType),
	}
	return Decision{
		Kind: KindLaunch, Object: d.Object(), Count: n, Offering: &to.offering, ChargeType: to.market.ChargeType,
		Sequence: p.sequence, Token: request.Token, Refresh: refresh,
		Reasons: reasons, Price: p.offers[to.market].Price, Request: request,
	}
}

// choice says why a launch goes where it goes: what it costs, and which preferred
// offerings were passed over.
func (p *planner) choice(to *candidate, list []*candidate, passed []passedOver) []string {
	var reasons []string
	if price := p.offers[to.market].Price; price > 0 {
		reasons = append(reasons, fmt.Sprintf("%s CNY an hour each", price))
	}
	if to.avoided != "" {
		reasons = append(reasons, fmt.Sprintf("no other offering can launch, and so this one does in spite of its cool-down: %s", to.avoided))
	}
	var others []string
	for _, o := range passed {
		if p.Declaration.AllocationStrategy != Priority || o.index < to.index {
			others = append(others, o.String())
		}
	}
	for _, o := range list {
		if o.avoided != "" && to.avoided == "" && p.prefer(o, to) < 0 {
			others = append(others, fmt.Sprintf("%s: %s", o.market, o.avoided))
		}
	}
	if len(others) > 0 {
		reasons = append(reasons, "passed over "+wording.Some(others))
	}
	return reasons
}

// freeSeqTag is the lowest value of the tag gpupool/seq that no other launch has:
// none that is open, and none whose instances are recorded, listed, or gone so lately
// that a listing may still have them. Values are used again because the cloud limits
// how many a tag key may have over time.
func (p *planner) freeSeqTag() int64 {
	if p.seqTags == nil {
		p.seqTags = map[int64]bool{}
		for _, i := range p.plan.Journal.Intents {
			p.seqTags[i.Request.SeqTag] = true
		}
		for _, k := range p.plan.Journal.Known {
			p.seqTags[k.SeqTag] = true
		}
		for _, m := range p.plan.Members {
			p.seqTags[m.SeqTag] = true
		}
		for _, past := range p.plan.Journal.Past {
			if p.Now.Sub(past.at()) <= TagLag {
				p.seqTags[past.SeqTag] = true
			}
		}
	}
	tag := int64(1)
	for p.seqTags[tag] {
		tag++
	}
	p.seqTags[tag] = true
	return tag
}
