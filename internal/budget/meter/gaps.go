package meter

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// micro is the number of parts of a GPU in the computation of a gap's bound.
// Recorded usage is rounded down, so that the bound holds.
const micro = 1_000_000

// gaps is the usage that may have been missed without observations.
type gaps struct {
	header  ledger.Header
	meter   *Meter // of what is recorded for certain
	list    []gap  // in the order of time, without overlap
	covered map[ledger.Time]int
}

// gap is one of them. The capacity of the nodes bounds the missed usage, less
// the recorded one.
type gap struct {
	from, to ledger.Time
	bounded  bool
	given    rate
	change   int64 // of the rate, in millionths, that lasts through it: from the gap before
	partly   int64 // what is recorded of intervals that begin or end in it
	missed   int64 // at most, in milli-GPU-seconds of default weight
}

// missed is the usage that the gaps may hide of a window, the length of the longest gap, and
// whether nothing bounds what was missed.
type missed struct {
	amount    int64
	longest   time.Duration
	boundless bool
}

func newGaps(h ledger.Header, e *evaluation, earliest ledger.Time) *gaps {
	g := &gaps{
		header: h, covered: map[ledger.Time]int{},
		meter: &Meter{rules: newRules(budget.FromScheduled, ledger.EstimateEarliest, e.allocations), claims: e.claims, now: e.now},
	}
	for _, of := range h.Gaps {
		if to := min(of.To, e.now); of.From < to && to > earliest {
			g.list = append(g.list, gap{from: of.From, to: to, bounded: of.GPUs != nil, given: rateOf(of.GPUs)})
		}
	}
	slices.SortFunc(g.list, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	return g
}

// add counts what is recorded for certain in the gaps, of any pod of the cluster.
func (g *gaps) add(i *interval) {
	if len(g.list) == 0 {
		return
	}
	c, counts := g.meter.count(i, g.list[0].from)
	switch {
	case !counts:
	case c.divided == nil:
		g.record(c.start, c.least, c.rate)
	default:
		for _, piece := range c.divided.counted {
			g.record(piece.from, min(piece.to, c.least), piece.rate)
		}
	}
}

// record counts what was used at a rate for a time.
func (g *gaps) record(start, end ledger.Time, number int32) {
	first, _ := slices.BinarySearchFunc(g.list, start, func(of gap, t ledger.Time) int { return cmp.Compare(of.to, t+1) })
	after, _ := slices.BinarySearchFunc(g.list, end, func(of gap, t ledger.Time) int { return cmp.Compare(of.from, t) })
	if first >= after || start >= end {
		return
	}
	rate := g.meter.rules.rates[number].parts(micro)
	for _, n := range []int{first, after - 1} {
		of := &g.list[n]
		if first >= after || of.from >= start && of.to <= end {
			continue
		}
		of.partly = plus(of.partly, recorded(rate, min(of.to, end)-max(of.from, start)))
		if n == first {
			first++
		} else {
			after--
		}
	}
	if first < after {
		g.list[first].change += rate
		if after < len(g.list) {
			g.list[after].change -= rate
		}
	}
}

// recorded is what a rate in millionths uses, rounded down.
func recorded(rate int64, ms ledger.Time) int64 {
	used := product(rate, int64(ms))
	if used.hi >= micro/2 {
		return math.MaxInt64
	}
	return used.floor(micro)
}

// settle works out how much each gap may hide.
func (g *gaps) settle() {
	through := int64(0)
	for n := range g.list {
		of := &g.list[n]
		through += of.change
		length := of.to - of.from
		of.missed = max(0, of.given.amount(int64(length))-plus(recorded(through, length), of.partly))
	}
}

// missed returns the usage that the gaps may hide of a budget's window, by its weights.
func (g *gaps) missed(m *Meter) missed {
	var all missed
	for _, of := range g.list {
		if of.to <= m.begin {
			continue
		}
		all.longest = max(all.longest, time.Duration(of.to-of.from)*time.Millisecond)
		if !of.bounded || m.rules.boundless {
			all.boundless = true
			continue
		}
		most := of.given.amount(int64(of.to - max(of.from, m.begin)))
		all.amount = plus(all.amount, min(of.missed, most))
	}
	if all.amount > 0 && m.rules.surplus.Cmp(ratOne) > 0 {
		all.amount = rateOf(m.rules.surplus).amount(all.amount)
	}
	return all
}

// coverage is how much of the time since a moment was observed, in thousandths.
func (g *gaps) coverage(from ledger.Time) int {
	known, asked := g.covered[from]
	if !asked {
		known = g.header.Coverage(from, g.meter.now)
		g.covered[from] = known
	}
	return known
}

// knownSince is when the ledger's knowledge begins, if a window begins before that and you did not accept it.
// Otherwise nil.
func (g *gaps) knownSince(from ledger.Time) *time.Time {
	first := g.header.KnownSince()
	if first <= from || first <= g.header.Forgone.Before {
		return nil
	}
	at := first.Time()
	return &at
}

// lost returns what of a window's records was lost, and whether that may have been
// that pods ended.
func (g *gaps) lost(from ledger.Time) (texts []string, ends bool) {
	lost := g.header.LostSince(from)
	for _, loss := range lost {
		texts = append(texts, loss.Reason) // which names the document
	}
	return texts, ledger.EndsLost(lost)
}
