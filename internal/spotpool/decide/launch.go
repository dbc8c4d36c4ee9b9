package decide

import (
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// launch launches up to n instances. If it is fewer, the result says why each of the other
// offerings was skipped.
func launch(v View, t Tally, n int, charge spotpool.ChargeType, refresh bool, reasons ...reason.Reason) (_ Tally, r Result) {
	if n = min(n, t.room(v)); n <= 0 {
		return t, r
	}
	before := t.launches
	t.launches = slices.Clone(before)
	list, passed := candidates(v, t, charge)
	for n > 0 && len(list) > 0 {
		to := best(v, t, list)
		count, why := fits(v, t, to, n)
		if count == 0 {
			passed = append(passed, skipped{to, why})
			list = slices.DeleteFunc(list, func(other candidate) bool { return other.index == to.index })
			continue
		}
		if v.Declaration.AllocationStrategy == spotpool.Balanced && len(list) > 1 {
			count = 1
		}
		left := enlarge(t.launches, to, count, refresh, reasons[0])
		if left > 0 {
			why := slices.Concat(reasons, choice(v, t, to, list, passed))
			for ; left > 0; left -= min(left, MaxBatch) {
				t = t.open(v, to, min(left, MaxBatch), refresh, why)
			}
		}
		t = t.reserve(v, to.offering, charge, count)
		t.asked = plus(t.asked, to.market, count)
		t.launched += count
		n -= count
	}
	for i, d := range t.launches {
		if i >= len(before) || d.Count > before[i].Count {
			request := *d.Request
			request.Count = d.Count
			t.launches[i].Request = &request
			r.Decisions = append(r.Decisions, t.launches[i])
		}
	}
	if n > 0 {
		for _, o := range passed {
			r.because(o.reason())
		}
	}
	return t, r
}

// enlarge adds n instances, in place, to launches in the same offering for the same reasons.
// It returns how many did not fit.
func enlarge(launches []spotpool.Decision, to candidate, n int, refresh bool, why reason.Reason) int {
	for i := range launches {
		d := &launches[i]
		if d.Refresh != refresh || *d.Offering != to.offering || d.ChargeType != to.market.ChargeType || !d.Reasons[0].Same(why) {
			continue
		}
		more := min(n, MaxBatch-d.Count)
		d.Count += more
		n -= more
	}
	return n
}

// open adds a new launch of n instances.
func (t Tally) open(v View, to candidate, n int, refresh bool, reasons reason.Reasons) Tally {
	d := v.Declaration
	offering := to.offering
	if to.market.ChargeType != spotpool.Spot {
		offering.SpotMaxPrice = 0
	}
	t.sequence++
	tags := t.usedTags(v)
	seqTag := int64(1) // the lowest one: Tencent Cloud limits how many values a tag key may have over time
	for tags[seqTag] {
		seqTag++
	}
	tags[seqTag] = true
	t.seqTags = tags
	request := &spotpool.Request{
		Region: d.Region, Pool: d.Name, UID: d.UID, Sequence: t.sequence, SeqTag: seqTag, Token: launches.Token(d.UID, v.Journal.Salt, t.sequence),
		Offering: offering, ChargeType: to.market.ChargeType, Count: n, Configuration: d.Configuration,
		ConfigurationTag: spotpool.ConfigurationTag(d.Configuration, offering, to.market.ChargeType),
	}
	t.launches = append(t.launches[:len(t.launches):len(t.launches)], spotpool.Decision{
		Kind: spotpool.KindLaunch, Object: d.Object(), Count: n, Offering: &to.offering, ChargeType: to.market.ChargeType,
		Sequence: t.sequence, Token: request.Token, Refresh: refresh,
		Reasons: reasons, Price: v.offers[to.market].Price, Currency: d.Currency, Request: request,
	})
	return t
}

// usedTags returns the values of the tag gpupool/seq that a new launch must not have. They
// are of pending and decided launches, and of instances that a listing may still show.
func (t Tally) usedTags(v View) map[int64]bool {
	if t.seqTags != nil {
		return maps.Clone(t.seqTags)
	}
	used := map[int64]bool{}
	for _, i := range v.Journal.Pending {
		used[i.Request.SeqTag] = true
	}
	for _, k := range v.Journal.Known {
		used[k.SeqTag] = true
	}
	for _, m := range t.members {
		used[m.SeqTag] = true
	}
	for _, past := range v.Journal.Past {
		if v.Now.Sub(past.GoneAt()) <= spotpool.TagLag {
			used[past.SeqTag] = true
		}
	}
	return used
}

// choice says why a launch is in its offering: its price, and the preferred offerings that
// were skipped.
func choice(v View, t Tally, to candidate, list []candidate, passed []skipped) reason.Reasons {
	var reasons reason.Reasons
	if price := v.offers[to.market].Price; price > 0 {
		reasons = append(reasons, reason.PriceEach(v.amount(price)))
	}
	if !to.avoided.IsZero() {
		reasons = append(reasons, reason.LastResort(to.avoided))
	}
	var others reason.Some
	for _, o := range passed {
		if v.Declaration.AllocationStrategy != spotpool.Priority || o.index < to.index {
			others = append(others, o.reason().Sentence())
		}
	}
	for _, o := range list {
		if !o.avoided.IsZero() && to.avoided.IsZero() && prefer(v, t, o, to) < 0 {
			others = append(others, reason.OfferingAvoided(reason.Word(o.market.String()), o.avoided))
		}
	}
	if len(others) > 0 {
		reasons = append(reasons, reason.OfferingsSkipped(others))
	}
	return reasons
}
