package ledger

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Header is the state of the ledger apart from its records.
type Header struct {
	ClusterUID string
	// Began is when the first run started to observe. Earlier intervals may be missing.
	Began   Time
	LastRun Time // the server's clock
	// LastListed is the last run that listed every pod, apart from any replay; zero requests a list
	// from the next run.
	LastListed Time
	// ResourceVersion is where the next run's replay of the pod watch begins.
	ResourceVersion string
	// Resources are those that the last run counted apart from the default ones, in its own form.
	// If they change, a replay is not enough.
	Resources string
	// KeptSince is the start of retention: what ended before it was dropped.
	KeptSince Time
	// Gaps are sorted and do not overlap; see [Ledger.AddGap].
	Gaps []Gap
	// Lost lists the documents that could not be read. Their times have no coverage.
	Lost []Loss
	// Forgone is how far you accepted that the ledger lacks earlier time.
	Forgone Forgone
	// Problems are those of pods that exist, as last observed. A replay shows only pods that changed.
	Problems []PodProblem
}

// PodProblem is what could not be understood about a pod, so that it counts wrongly or not at all.
type PodProblem struct {
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Why is a text without a code in documents of earlier builds.
	Why reason.Reason `json:"text"`
}

// Gap is a time that no observation and no replay covers: intervals that began and ended in it are
// missing.
type Gap struct {
	From, To Time
	// GPUs is the capacity of the cluster's nodes, an upper bound of what was missed; nil if
	// unknown.
	GPUs   *big.Rat
	Reason string
}

func (h Header) join(o Header) Header {
	h.Began = earlier(h.Began, o.Began)
	if c := cmp.Or(cmp.Compare(o.LastRun, h.LastRun), cmp.Compare(o.ResourceVersion, h.ResourceVersion), cmp.Compare(o.Resources, h.Resources)); c > 0 {
		h.LastRun, h.ResourceVersion, h.Resources, h.Problems = o.LastRun, o.ResourceVersion, o.Resources, o.Problems
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

func (h *Header) prune() {
	h.Gaps = slices.DeleteFunc(slices.Clone(h.Gaps), func(g Gap) bool { return g.To <= h.KeptSince })
	h.Lost = slices.DeleteFunc(slices.Clone(h.Lost), func(l Loss) bool { return l.To <= h.KeptSince })
}

// expired reports whether retention has dropped an interval with this end.
func (h *Header) expired(e End) bool { return !e.Open() && e.At < h.KeptSince }

func (h *Header) isDropped(n *Node) bool { return n.Gone != 0 && n.Gone < h.KeptSince }

// past reports whether retention has dropped everything that a shard may contain.
func (h *Header) past(s document.Shard) bool {
	_, to := s.Span()
	return s.Closed() && Time(to) <= h.KeptSince
}
