package ledger

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// Header is what the ledger remembers beside its records.
type Header struct {
	ClusterUID string
	// Began is when the first run started to observe: nothing before it is
	// certain to be recorded.
	Began   Time
	LastRun Time // the server's clock
	// LastListed is the last run that listed every pod, beside any replay.
	LastListed Time
	// ResourceVersion is where the next run's replay of the pod watch begins.
	ResourceVersion string
	// Resources are those that the last run looked for beside what is counted by
	// default, in its own form: where they differ, a replay alone is not enough.
	Resources string
	// KeptSince is up to where retention has dropped what ended.
	KeptSince Time
	// Gaps are in order and do not overlap: [Ledger.AddGap] sees to that.
	Gaps []Gap
	// Lost says what could not be read, for a person. Coverage is none there.
	Lost []Loss
}

// Gap is a time that no observation and no replay covers: what began and ended
// in it was never seen.
type Gap struct {
	From, To Time
	// GPUs is how many the cluster's nodes could have given, the bound of what
	// was missed; nil where that is not known.
	GPUs   *big.Rat
	Reason string
}

// Loss is a document of the ledger that could not be read. Its name is not used
// again, so that a copy that is put back undoes the loss.
type Loss struct {
	Document string
	// From and To are when the intervals ended that it held.
	From, To  Time
	Intervals int // that it held, where the header tells; else 0
	Reason    string
}

// join is what two headers of one cluster say together.
func (h Header) join(o Header) Header {
	if h.Began == 0 || o.Began != 0 && o.Began < h.Began {
		h.Began = o.Began
	}
	if c := cmp.Or(cmp.Compare(o.LastRun, h.LastRun), cmp.Compare(o.ResourceVersion, h.ResourceVersion), cmp.Compare(o.Resources, h.Resources)); c > 0 {
		h.LastRun, h.ResourceVersion, h.Resources = o.LastRun, o.ResourceVersion, o.Resources
	}
	h.LastListed = max(h.LastListed, o.LastListed)
	h.KeptSince = max(h.KeptSince, o.KeptSince)
	h.Gaps = mergeGaps(slices.Concat(h.Gaps, o.Gaps))
	h.Lost = mergeLosses(slices.Concat(h.Lost, o.Lost))
	return h
}

// prune forgets what lies before what is kept.
func (h *Header) prune() {
	h.Gaps = slices.DeleteFunc(slices.Clone(h.Gaps), func(g Gap) bool { return g.To <= h.KeptSince })
	h.Lost = slices.DeleteFunc(slices.Clone(h.Lost), func(l Loss) bool { return l.To <= h.KeptSince })
}

// mergeLosses brings losses into order, each document's once.
func mergeLosses(lost []Loss) []Loss {
	slices.SortFunc(lost, func(a, b Loss) int {
		return cmp.Or(
			strings.Compare(a.Document, b.Document), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(b.Intervals, a.Intervals), strings.Compare(a.Reason, b.Reason),
		)
	})
	return slices.CompactFunc(lost, func(a, b Loss) bool { return a.Document == b.Document })
}
