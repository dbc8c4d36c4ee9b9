package budget

import (
	"cmp"
	"iter"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Evaluate judges all budgets at once, as of now: a result for each declaration,
// in their order. It asks for the records several times, and each time for all
// of them in the same order; it keeps none but copies, so that one may be used
// over and over. A budget that can't be judged has an error in its result, and
// is in nobody's way.
//
// The cost is records plus distinct label sets times budgets: label sets are
// told apart only by what selectors and breakdowns ask for, and budgets that
// count the same pods in the same way share the sums.
func Evaluate(declarations []Declaration, records iter.Seq[*ledger.Record], h ledger.Header, now time.Time) []Result {
	results := make([]Result, len(declarations))
	e := &evaluation{
		declarations: declarations, results: results, records: records, now: fromTime(now),
		census: newCensus(declarations, now, results),
	}
	earliest := e.now
	for _, a := range e.audiences {
		earliest = min(earliest, a.from)
	}
	e.gaps = newGaps(h, e.now, earliest)
	e.count()
	for _, a := range e.audiences {
		e.judge(a)
	}
	e.cross()
	return results
}

type evaluation struct {
	*census
	declarations []Declaration
	results      []Result
	records      iter.Seq[*ledger.Record]
	now          ledger.Time
	classes      *classes
	gaps         *gaps
	sweeps       []*sweep
	sharers      *Sharers
}

// count sums the records up, by class.
func (e *evaluation) count() {
	e.classes = &classes{census: e.census, byText: map[string]*class{}}
	e.sharers = newSharers()
	for r := range e.records {
		if isShared(r) {
			e.sharers.add(r)
			continue
		}
		e.countWhole(r)
	}
	e.sharers.settle()
	for n := range e.sharers.records {
		if r := &e.sharers.records[n]; e.sharers.divides(r) {
			e.countParts(r)
		} else {
			e.countWhole(r)
		}
	}
	for _, c := range e.classes.list {
		for n := range c.groups {
			c.groups[n].settle()
		}
	}
	e.gaps.settle()
}

// countWhole counts a record whose pod shares nothing that it holds.
func (e *evaluation) countWhole(r *ledger.Record) {
	e.gaps.add(r)
	c := e.classes.of(setOf(r))
	for n := range c.groups {
		g := &c.groups[n]
		v := e.valuers[g.valuer]
		s, ok := v.stretch(r, e.now)
		if !ok {
			continue
		}
		g.intervals++
		if !s.touches(g.from[0]) {
			continue
		}
		if number := v.rate(r); number > 0 {
			g.add(s, v.rates[number], number)
			c.pods = true
		}
	}
}

// countParts counts a record whose pod shares what it holds.
func (e *evaluation) countParts(r *ledger.Record) {
	e.gaps.addParts(r, e.sharers)
	c := e.classes.of(setOf(r))
	for n := range c.groups {
		g := &c.groups[n]
		v := e.valuers[g.valuer]
		s, ok := v.stretch(r, e.now)
		if !ok || v.rate(r) == 0 {
			continue
		}
		p := v.parts(r, s, e.sharers)
		g.intervals += len(p.counted)
		if p.touches(g.from[0]) {
			g.addParts(&p)
			c.pods = true
		}
	}
}

// judge turns an audience's sums into the results of its budgets.
func (e *evaluation) judge(a *audience) {
	var total tally
	active := map[int32]int{}
	byNamespace := map[string]int64{}
	for _, c := range a.classes {
		g, window := c.of(a)
		used := g.cut[window]
		if used.pods == 0 {
			continue
		}
		total.merge(used)
		byNamespace[c.set.Namespace] = plus(byNamespace[c.set.Namespace], used.consumed)
		for _, at := range g.active {
			active[at.rate] += at.pods
		}
	}
	v := e.valuers[a.valuer]
	burn, pods := new(big.Rat), 0
	for number, n := range active {
		pods += n
		burn.Add(burn, new(big.Rat).Mul(v.rates[number].rat(), big.NewRat(int64(n), 1)))
	}
	hidden := e.gaps.since(a.from, v)
	coverage, overlaps := e.gaps.coverage(a.from), e.overlaps(a)
	lost, endsLost := e.gaps.lost(a.from)
	known := e.gaps.knownSince(a.from)
	forgotten := known != nil && e.gaps.header.KeptSince > a.from
	byNamespace = largest(byNamespace)
	for _, n := range a.budgets {
		r := &e.results[n]
		u := &r.Usage
		u.Consumed, u.Estimated, u.ErrorBound = total.consumed, total.estimated, plus(total.bound, hidden.missed)
		u.Unshown = total.unshown
		u.Coverage, u.TrackedPods, u.ActivePods = coverage, total.pods, pods
		u.BurnRate = roundRat(new(big.Rat).Mul(burn, big.NewRat(1000, 1)))
		u.ByNamespace = maps.Clone(byNamespace)
		u.ByLabel = e.byLabel(a, e.declarations[n].BreakdownLabels)
		r.LongestGap, r.Unbounded, r.Lost = hidden.longest, hidden.boundless, lost
		r.EndsLost, r.KnownSince, r.Forgotten = endsLost, known, forgotten
		for _, name := range overlaps {
			if name != r.Name {
				r.Overlaps = append(r.Overlaps, name)
			}
		}
		e.project(a, r, burn)
	}
}

// byLabel breaks an audience's usage down. Pods without the label are under "".
func (e *evaluation) byLabel(a *audience, keys []string) map[string]map[string]int64 {
	if len(keys) == 0 {
		return nil
	}
	broken := make(map[string]map[string]int64, len(keys))
	for _, key := range keys {
		amounts := map[string]int64{}
		for _, c := range a.classes {
			g, window := c.of(a)
			if used := g.cut[window]; used.pods > 0 {
				value := c.set.Labels.Get(key)
				amounts[value] = plus(amounts[value], used.consumed)
			}
		}
		broken[key] = largest(amounts)
	}
	return broken
}

// Others is under what a breakdown sums up the smaller entries where there are
// more than MaxBreakdown: no label or namespace is called so.
const (
	Others       = "(others)"
	MaxBreakdown = 200
)

// largest keeps the largest entries of a breakdown, and sums up the rest.
func largest(amounts map[string]int64) map[string]int64 {
	if len(amounts) <= MaxBreakdown {
		return amounts
	}
	keys := slices.SortedFunc(maps.Keys(amounts), func(a, b string) int {
		if amounts[a] != amounts[b] {
			return cmp.Compare(amounts[b], amounts[a])
		}
		return cmp.Compare(a, b)
	})
	kept := make(map[string]int64, MaxBreakdown)
	for n, key := range keys {
		if n < MaxBreakdown-1 {
			kept[key] = amounts[key]
		} else {
			kept[Others] = plus(kept[Others], amounts[key])
		}
	}
	return kept
}

// overlaps names the budgets that count pods which an audience counts too.
func (e *evaluation) overlaps(a *audience) []string {
	shares := make([]bool, len(e.audiences))
	for _, c := range a.classes {
		if c.pods {
			for _, other := range c.audiences {
				shares[other.number] = true
			}
		}
	}
	var names []string
	for number, shared := range shares {
		if shared {
			for _, n := range e.audiences[number].budgets {
				names = append(names, e.declarations[n].Name)
			}
		}
	}
	slices.Sort(names)
	return names
}
