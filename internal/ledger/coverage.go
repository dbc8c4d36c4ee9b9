package ledger

import (
	"cmp"
	"slices"
)

// Coverage returns how much of [from, to) was observed, in thousandths rounded down: 1000 only if
// all of it was. Time before the ledger began or before its retention, in a gap, or of a lost
// document is not observed. Do not ask for time after the last run: nothing is known of it yet.
func (h Header) Coverage(from, to Time) int {
	if from >= to {
		return 1000
	}
	if h.Began == 0 {
		return 0
	}
	dark := []Gap{{From: from, To: max(h.Began, h.KeptSince)}}
	for _, lost := range h.Lost {
		dark = append(dark, Gap{From: lost.From, To: lost.To})
	}
	observed := to - from
	for _, g := range sweep(append(dark, h.Gaps...), worse) {
		observed -= max(0, min(g.To, to)-max(g.From, from))
	}
	return int(observed * 1000 / (to - from))
}

// AddGap adds a time that was not observed. Adding it again changes nothing, and the order makes no
// difference: of overlapping gaps the most GPUs count at each moment.
func (l *Ledger) AddGap(g Gap) { l.Header.Gaps = mergeGaps(append(slices.Clone(l.Header.Gaps), g)) }

// maxGaps is how many separate gaps are kept.
const maxGaps = 4096

// mergeGaps sorts gaps and removes overlaps. Beyond maxGaps, it combines older gaps into larger
// ones.
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
		merged = sweep(append(fewer, merged[len(older):]...), worse)
	}
	return merged
}

func worse(a, b Gap) Gap {
	if a.GPUs == nil || b.GPUs != nil && b.GPUs.Cmp(a.GPUs) > 0 {
		a.GPUs = b.GPUs
	}
	if a.Reason == "" || b.Reason != "" && b.Reason < a.Reason {
		a.Reason = b.Reason
	}
	return a
}

// sweep splits gaps at each other's bounds and combines those that cover the same moments. Adjacent
// gaps that are otherwise equal become one.
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
		if last := len(merged) - 1; last >= 0 && merged[last].To == from && mergeable(merged[last], here) {
			merged[last].To = to
			continue
		}
		merged = append(merged, here)
	}
	return merged
}

func mergeable(a, b Gap) bool {
	if (a.GPUs == nil) != (b.GPUs == nil) || a.Reason != b.Reason {
		return false
	}
	return a.GPUs == nil || a.GPUs.Cmp(b.GPUs) == 0
}
