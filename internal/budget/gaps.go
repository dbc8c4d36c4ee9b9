package budget

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// micro is how many parts of a GPU are told apart where the bound of a gap is
// worked out. What is recorded is rounded down, so that the bound holds.
const micro = 1_000_000

// gaps is what may have been missed while nothing was observed.
type gaps struct {
	header ledger.Header
	meter  *Meter // of what is recorded for certain
	list   []ledger.Gap
	parts  []int64 // the meter's rates in millionths of a GPU, by number
	change []int64 // of the rate that lasts through a gap, from gap to gap
	partly []int64 // what is recorded of intervals that begin or end in a gap
	given  []rate  // what the nodes could give in each
	amount []int64 // missed, in milli-GPU-seconds of default weight; -1 where nothing bounds it

	covered map[ledger.Time]int
}

// missed is what the gaps may hide of a window, how long the longest of them is, and
// whether nothing bounds what was missed.
type missed struct {
	amount    int64
	longest   time.Duration
	boundless bool
}

func newGaps(h ledger.Header, e *evaluation, earliest ledger.Time) *gaps {
	g := &gaps{
		header: h, covered: map[ledger.Time]int{},
		meter: &Meter{rules: newRules(FromScheduled, ledger.AtLastRun, e.holdings), claims: e.claims, now: e.now},
	}
	for _, gap := range h.Gaps {
		gap.To = min(gap.To, e.now)
		if gap.From < gap.To && gap.To > earliest {
			g.list = append(g.list, gap)
		}
	}
	slices.SortFunc(g.list, func(a, b ledger.Gap) int { return cmp.Compare(a.From, b.From) })
	g.change = make([]int64, len(g.list)+1)
	g.partly = make([]int64, len(g.list))
	return g
}

// add counts what is recorded for certain in the gaps, of any pod of the cluster.
func (g *gaps) add(i *interval) {
	if len(g.list) == 0 {
		return
	}
	c, counts := g.meter.measure(i, g.list[0].From)
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
	first, _ := slices.BinarySearchFunc(g.list, start, func(gap ledger.Gap, t ledger.Time) int { return cmp.Compare(gap.To, t+1) })
	after, _ := slices.BinarySearchFunc(g.list, end, func(gap ledger.Gap, t ledger.Time) int { return cmp.Compare(gap.From, t) })
	if first >= after || start >= end {
		return
	}
	for n := len(g.parts); n < len(g.meter.rules.rates); n++ {
		g.parts = append(g.parts, g.meter.rules.rates[n].parts(micro))
	}
	rate := g.parts[number]
	for _, n := range []int{first, after - 1} {
		if gap := g.list[n]; first < after && (gap.From < start || gap.To > end) {
			g.partly[n] = plus(g.partly[n], recorded(rate, min(gap.To, end)-max(gap.From, start)))
			if n == first {
				first++
			} else {
				after--
			}
		}
	}
	if first < after {
		g.change[first] += rate
		g.change[after] -= rate
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
	for n, gap := range g.list {
		through += g.change[n]
		g.given = append(g.given, rateOf(gap.GPUs))
		if gap.GPUs == nil {
			g.amount = append(g.amount, -1)
			continue
		}
		length := gap.To - gap.From
		known := plus(recorded(through, length), g.partly[n])
		g.amount = append(g.amount, max(0, g.given[n].amount(int64(length))-known))
	}
}

// missed is what the gaps may hide of a budget's window, by its weights.
func (g *gaps) missed(m *Meter) missed {
	var of missed
	for n, gap := range g.list {
		if gap.To <= m.begin {
			continue
		}
		of.longest = max(of.longest, time.Duration(gap.To-gap.From)*time.Millisecond)
		if g.amount[n] < 0 || m.rules.boundless {
			of.boundless = true
			continue
		}
		most := g.given[n].amount(int64(gap.To - max(gap.From, m.begin)))
		of.amount = plus(of.amount, min(g.amount[n], most))
	}
	if of.amount > 0 && m.rules.surplus.Cmp(ratOne) > 0 {
		of.amount = rateOf(m.rules.surplus).amount(of.amount)
	}
	return of
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

// knownSince is from when on the ledger knows all, where a window begins before
// that and nobody accepted it; nil where there is no such time.
func (g *gaps) knownSince(from ledger.Time) *time.Time {
	first := g.header.KnownSince()
	if first <= from || first <= g.header.Forgone.Before {
		return nil
	}
	at := toTime(first)
	return &at
}

// lost says what of a window's records was lost, and whether that may have been
// that pods ended.
func (g *gaps) lost(from ledger.Time) (texts []string, ends bool) {
	lost := g.header.LostSince(from)
	for _, loss := range lost {
		texts = append(texts, loss.Reason) // which names the document
	}
	return texts, ledger.EndsLost(lost)
}
