package ledger

import (
	"cmp"
	"math/big"
	"slices"
)

// Coverage is how much of a time was observed.
type Coverage struct {
	// Observed is how many of the Whole's milliseconds were.
	Observed, Whole Time
	// Missed is what pods that nobody saw may have used in the gaps whose GPUs
	// are known, at most: in GPU-milliseconds.
	Missed *big.Rat
	// Unbounded says that of some of what was not observed nothing is known.
	Unbounded bool
	// LongestGap is the longest time that was not observed at a stretch.
	LongestGap Time
}

// Thousandths is Observed of Whole, rounded down: 1000 only where all was
// observed. What has no length is observed.
func (c Coverage) Thousandths() int {
	if c.Whole <= 0 {
		return 1000
	}
	return int(new(big.Int).Div(new(big.Int).Mul(big.NewInt(int64(c.Observed)), big.NewInt(1000)), big.NewInt(int64(c.Whole))).Int64())
}

// Coverage says how much of [from, to) was observed: what neither lies before
// the ledger began or what retention kept, nor after the last run, nor in a gap,
// nor was lost.
func (l *Ledger) Coverage(from, to Time) Coverage {
	c := Coverage{Whole: max(0, to-from), Missed: new(big.Rat)}
	if c.Whole == 0 {
		return c
	}
	h := l.Header
	var dark []Gap
	if h.Began == 0 {
		dark = append(dark, Gap{From: from, To: to})
	}
	dark = append(dark, Gap{From: from, To: max(h.Began, h.KeptSince)}, Gap{From: h.LastRun, To: to})
	for _, lost := range h.Lost {
		dark = append(dark, Gap{From: lost.From, To: lost.To})
	}
	stretch := Time(0)
	var last Time
	c.Observed = c.Whole
	for _, g := range sweep(append(dark, h.Gaps...), func(a, b Gap) Gap { // what is not known stays so
		if a.GPUs == nil || b.GPUs == nil {
			return Gap{}
		}
		return worse(a, b)
	}) {
		g.From, g.To = max(g.From, from), min(g.To, to)
		length := g.To - g.From
		if length <= 0 {
			continue
		}
		c.Observed -= length
		if g.From != last {
			stretch = 0
		}
		stretch, last = stretch+length, g.To
		c.LongestGap = max(c.LongestGap, stretch)
		if g.GPUs == nil {
			c.Unbounded = true
			continue
		}
		c.Missed.Add(c.Missed, new(big.Rat).Mul(g.GPUs, new(big.Rat).SetInt64(int64(length))))
	}
	return c
}

// AddGap adds a time that was not observed. Adding again changes nothing, and
// the order makes no difference: at each moment the most GPUs count of the gaps
// that cover it.
func (l *Ledger) AddGap(g Gap) { l.Header.Gaps = mergeGaps(append(slices.Clone(l.Header.Gaps), g)) }

// maxGaps is how many gaps are told apart.
const maxGaps = 4096

// mergeGaps brings gaps into order, without overlap. Where there are very many,
// the older ones are made fewer by covering more.
func mergeGaps(gaps []Gap) []Gap {
	merged := sweep(gaps, worse)
	for len(merged) > maxGaps {
		older := merged[:len(merged)/2]
		var fewer []Gap
		for pair := range slices.Chunk(older, 2) {
			g := pair[0]
			if len(pair) == 2 {
				g = worse(pair[0], pair[1])
				g.From, g.To = pair[0].From, pair[1].To
			}
			fewer = append(fewer, g)
		}
		merged = append(fewer, merged[len(older):]...)
	}
	return merged
}

// worse is what two gaps at the same time are together.
func worse(a, b Gap) Gap {
	if a.GPUs == nil || b.GPUs != nil && b.GPUs.Cmp(a.GPUs) > 0 {
		a.GPUs = b.GPUs
	}
	if a.Reason == "" || b.Reason != "" && b.Reason < a.Reason {
		a.Reason = b.Reason
	}
	return a
}

// sweep splits gaps where others begin and end, and combines those that cover
// the same moments; what touches and is otherwise the same becomes one.
func sweep(gaps []Gap, combine func(a, b Gap) Gap) []Gap {
	gaps = slices.DeleteFunc(slices.Clone(gaps), func(g Gap) bool { return g.From >= g.To })
	slices.SortFunc(gaps, func(a, b Gap) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var edges []Time
	for _, g := range gaps {
		edges = append(edges, g.From, g.To)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var merged, active []Gap
	next := 0
	for n := 1; n < len(edges); n++ {
		from, to := edges[n-1], edges[n]
		for ; next < len(gaps) && gaps[next].From <= from; next++ {
			active = append(active, gaps[next])
		}
		active = slices.DeleteFunc(active, func(g Gap) bool { return g.To <= from })
		if len(active) == 0 {
			continue
		}
		here := active[0]
		for _, g := range active[1:] {
			here = combine(here, g)
		}
		here.From, here.To = from, to
		if last := len(merged) - 1; last >= 0 && merged[last].To == from && alike(merged[last], here) {
			merged[last].To = to
			continue
		}
		merged = append(merged, here)
	}
	return merged
}

func alike(a, b Gap) bool {
	if (a.GPUs == nil) != (b.GPUs == nil) || a.Reason != b.Reason {
		return false
	}
	return a.GPUs == nil || a.GPUs.Cmp(b.GPUs) == 0
}
