package budget

import (
	"cmp"
	"math"
	"math/big"
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
	now    ledger.Time
	list   []ledger.Gap
	valuer *valuer // of what is recorded for certain
	rates  []int64 // in millionths of a GPU, by the valuer's number
	change []int64 // of the rate that lasts through a gap, from gap to gap
	partly []int64 // what is recorded of intervals that begin or end in a gap
	given  []rate  // what the nodes could give in each
	missed []int64 // milli-GPU-seconds of default weight; -1 where nothing bounds it

	covered map[ledger.Time]int
	hidden  map[hiding]hidden
}

// hiding asks what the gaps may hide of a window, by a valuation's weights.
type hiding struct {
	from   ledger.Time
	valuer *valuer
}

// hidden is what they may hide, how long the longest of them is, and whether
// nothing bounds what was missed.
type hidden struct {
	missed    int64
	longest   time.Duration
	boundless bool
}

func newGaps(h ledger.Header, now ledger.Time, earliest ledger.Time) *gaps {
	g := &gaps{
		header: h, now: now, valuer: newValuer(&valuation{from: FromScheduled, vanished: ledger.AtLastRun}),
		covered: map[ledger.Time]int{}, hidden: map[hiding]hidden{},
	}
	for _, gap := range h.Gaps {
		gap.To = min(gap.To, now)
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
func (g *gaps) add(r *ledger.Record) {
	if len(g.list) == 0 {
		return
	}
	s, ok := g.valuer.stretch(r, g.now)
	if !ok || s.least <= s.start {
		return
	}
	g.record(s.start, s.least, g.valuer.rate(r))
}

// addParts is add for a pod that holds by claims.
func (g *gaps) addParts(r *ledger.Record, sharers *Sharers) {
	if len(g.list) == 0 {
		return
	}
	s, ok := g.valuer.stretch(r, g.now)
	if !ok {
		return
	}
	for _, piece := range g.valuer.parts(r, s, sharers).counted {
		g.record(piece.from, min(piece.to, s.least), piece.rate)
	}
}

// record counts what was used at a rate for a time.
func (g *gaps) record(start, end ledger.Time, number int32) {
	first, _ := slices.BinarySearchFunc(g.list, start, func(gap ledger.Gap, t ledger.Time) int { return cmp.Compare(gap.To, t+1) })
	after, _ := slices.BinarySearchFunc(g.list, end, func(gap ledger.Gap, t ledger.Time) int { return cmp.Compare(gap.From, t) })
	if first >= after {
		return
	}
	for n := len(g.rates); n < len(g.valuer.rates); n++ {
		scaled := new(big.Rat).Mul(g.valuer.rates[n].rat(), big.NewRat(micro, 1))
		parts := new(big.Int).Quo(scaled.Num(), scaled.Denom())
		if !parts.IsInt64() {
			parts.SetInt64(math.MaxInt64 >> 20)
		}
		g.rates = append(g.rates, min(parts.Int64(), math.MaxInt64>>20))
	}
	rate := g.rates[number]
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
			g.missed = append(g.missed, -1)
			continue
		}
		length := gap.To - gap.From
		known := plus(recorded(through, length), g.partly[n])
		g.missed = append(g.missed, max(0, g.given[n].amount(int64(length))-known))
	}
}

// since is what the gaps may hide of what is after a moment.
func (g *gaps) since(from ledger.Time, v *valuer) hidden {
	if known, asked := g.hidden[hiding{from, v}]; asked {
		return known
	}
	var h hidden
	for n, gap := range g.list {
		if gap.To <= from {
			continue
		}
		h.longest = max(h.longest, time.Duration(gap.To-gap.From)*time.Millisecond)
		if g.missed[n] < 0 || v.boundless {
			h.boundless = true
			continue
		}
		most := g.given[n].amount(int64(gap.To - max(gap.From, from)))
		h.missed = plus(h.missed, min(g.missed[n], most))
	}
	if h.missed > 0 && v.surplus.Cmp(big.NewRat(1, 1)) > 0 {
		h.missed = rateOf(v.surplus).amount(h.missed)
	}
	g.hidden[hiding{from, v}] = h
	return h
}

// coverage is how much of the time since a moment was observed, in thousandths.
func (g *gaps) coverage(from ledger.Time) int {
	known, asked := g.covered[from]
	if !asked {
		known = g.header.Coverage(from, g.now)
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
