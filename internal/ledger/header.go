package ledger

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// Header is what the ledger remembers beside its records.
type Header struct {
	ClusterUID string
	// Began is when the first run started to observe: nothing before it is
	// certain to be recorded.
	Began   Time
	LastRun Time // the server's clock
	// LastListed is the last run that listed every pod, beside any replay; zero where
	// the next one is to list them at once.
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
	// Forgone is what is accepted of the time before the ledger.
	Forgone Forgone
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

// join is what two headers of one cluster say together.
func (h Header) join(o Header) Header {
	h.Began = earlier(h.Began, o.Began)
	if c := cmp.Or(cmp.Compare(o.LastRun, h.LastRun), cmp.Compare(o.ResourceVersion, h.ResourceVersion), cmp.Compare(o.Resources, h.Resources)); c > 0 {
		h.LastRun, h.ResourceVersion, h.Resources = o.LastRun, o.ResourceVersion, o.Resources
	}
	h.LastListed = max(h.LastListed, o.LastListed)
	h.KeptSince = max(h.KeptSince, o.KeptSince)
	h.Gaps = mergeGaps(slices.Concat(h.Gaps, o.Gaps))
	h.Lost = mergeLosses(slices.Concat(h.Lost, o.Lost))
	if o.Forgone.compare(h.Forgone) < 0 {
		h.Forgone = o.Forgone
	}
	return h
}

// prune forgets what lies before what is kept.
func (h *Header) prune() {
	h.Gaps = slices.DeleteFunc(slices.Clone(h.Gaps), func(g Gap) bool { return g.To <= h.KeptSince })
	h.Lost = slices.DeleteFunc(slices.Clone(h.Lost), func(l Loss) bool { return l.To <= h.KeptSince })
}

// expired says whether retention has dropped what ended then.
func (h *Header) expired(e End) bool { return !e.Open() && e.At < h.KeptSince }

// forgotten says whether it has dropped a node.
func (h *Header) forgotten(n *Node) bool { return n.Gone != 0 && n.Gone < h.KeptSince }

// past says whether it has dropped all that a shard may hold.
func (h *Header) past(s document.Shard) bool {
	_, to := s.Span()
	return s.Closed() && Time(to) <= h.KeptSince
}
