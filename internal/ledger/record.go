package ledger

import (
	"math/big"
	"slices"
	"strings"
)

// Record is one pod's interval. Values behind pointers are shared by records and never change.
type Record struct {
	UID  string
	Name string
	// Seen is when the pod was first observed, by the server's clock. Name, Set and Owner are those
	// of the record with the earliest Seen.
	Seen  Time
	Set   *LabelSet
	Owner *Owner // nil if the pod has no controller
	// Allocation is the first one observed, unless a later one is better confirmed by the pod's
	// node.
	Allocation *Allocation
	// AllocationSeen is when Allocation was observed; zero means Seen.
	AllocationSeen Time
	// Place is the first one observed, unless a later one is more complete: a node may get its
	// labels after its first pods.
	Place *Place
	// PlaceSeen is when Place was observed; zero means Seen.
	PlaceSeen Time
	Start     Start // scheduled
	Runs      Start // the first container's start; zero before
	End       End
	// Deletion is the earliest deletion timestamp observed, since a deletion can only be brought
	// forward.
	Deletion Time
}

// Open reports whether the pod still holds its allocation.
func (r *Record) Open() bool { return r.End.Open() }

// LabelSet is the input of selectors, as first observed. Each Job labels its pods with values of
// its own: to judge many records by few keys, compare only the values of these keys.
type LabelSet struct {
	Namespace       string `json:"namespace"`
	Labels          Labels `json:"labels,omitempty"`
	NamespaceLabels Labels `json:"namespace_labels,omitempty"`

	id int32
}

// ID numbers the sets that a ledger returned, from 0 on without holes. It is meaningless for a set
// that the caller made.
func (s *LabelSet) ID() int { return int(s.id) }

// Labels are sorted by key. They implement the interface Labels of the Kubernetes package labels.
type Labels []Label

// Label is one label.
type Label struct{ Key, Value string }

// LabelsOf returns sorted labels, or nil if there are none.
func LabelsOf(labels map[string]string) Labels {
	if len(labels) == 0 {
		return nil
	}
	sorted := make(Labels, 0, len(labels))
	for key, value := range labels {
		sorted = append(sorted, Label{key, value})
	}
	slices.SortFunc(sorted, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
	return sorted
}

// Lookup returns the value of a label, and whether the label exists.
func (l Labels) Lookup(key string) (string, bool) {
	for n := range l {
		if l[n].Key == key {
			return l[n].Value, true
		}
	}
	return "", false
}

// Get returns the value of a label, or "".
func (l Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}

// Has reports whether a label exists.
func (l Labels) Has(key string) bool {
	_, there := l.Lookup(key)
	return there
}

// Owner is the controller of a pod.
type Owner struct {
	// The API version.
	APIVersion string `json:"api_version"`
	// The kind.
	Kind string `json:"kind"`
	// The name.
	Name string `json:"name"`
	// The UID.
	UID string `json:"uid,omitempty"`
}

// Allocation is the GPUs that a pod holds, as first observed.
type Allocation struct {
	Shares []Share // by resource
	// Earlier is what counts before AllocationSeen, if that was more: a label of a node that changes
	// later lowers no recorded hours.
	Earlier []Share
	// Shown is how well the pod's node confirms the allocation: Unconfirmed, Provisional or
	// Confirmed. Each report of the node about its GPUs adds one to Confirmed.
	Shown int
	// Capped says that the pod requested more than the known capacity of its node.
	Capped bool

	id int32
}

// How well a node confirms an allocation.
const (
	// Unconfirmed is an estimate that rests on the pod's spec: neither the node nor its number of
	// GPUs is known.
	Unconfirmed = 0
	// Provisional is by the capacity of a node that registered recently and may still get the labels
	// about its GPUs. What these say then counts for all of the pod's time.
	Provisional = 1
	// Confirmed is by the capacity and the labels of the node, which lower no recorded hours later.
	Confirmed = 2
)

// GPUs returns the sum of the shares by the ledger's own weights.
func (a *Allocation) GPUs() *big.Rat { return gpusOf(a.Shares) }

func gpusOf(shares []Share) *big.Rat {
	total := new(big.Rat)
	for n := range shares {
		total.Add(total, new(big.Rat).Mul(shares[n].Units, shares[n].Weight))
	}
	return total
}

// Shared reports whether other pods may hold a part of the allocation too.
func (a *Allocation) Shared() bool {
	for n := range a.Shares {
		if a.Shares[n].Claim != "" {
			return true
		}
	}
	return false
}

// ID numbers the allocations that a ledger returned, from 0 on without holes.
func (a *Allocation) ID() int { return int(a.id) }

// Share is the units that a pod holds of one resource, and how many GPUs each is worth. Both are 0
// or more.
type Share struct {
	Resource      string
	Units, Weight *big.Rat
	// Claim identifies what other pods may hold too; empty if it is exclusive. Accounting divides a
	// claim at each moment among the pods that hold it.
	Claim string
	// Whole is the total units of a claim of which pods request parts. Each holds the Units that it
	// requested, and all of them together at most Whole. Nil means that each requested all of it.
	Whole *big.Rat
}

// Asked returns the fraction of its claim that a share requests; one is all of it.
func (s *Share) Asked() *big.Rat {
	if s.Whole == nil {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).Quo(s.Units, s.Whole)
}

func (s *Share) whole() string {
	if s.Whole == nil {
		return ""
	}
	return s.Whole.RatString()
}

// Place is where a pod ran.
type Place struct {
	Node         string
	Model        string // of the GPU
	InstanceType string
	InstanceID   string // of the CVM instance
	SpotPool     string // "region/name"; empty for a node outside spot pools

	id int32
}

// ID numbers the places that a ledger returned, from 0 on without holes.
func (p *Place) ID() int { return int(p.id) }

// Start is the start of an interval, with its source.
type Start struct {
	At     Time
	Source Source
}

// End is the end of an interval: exactly At if Earliest is the same, else somewhere in [Earliest,
// At]. If At is zero the interval is open; Earliest is then when the pod was observed again after
// an estimated end, or zero.
type End struct {
	Earliest Time
	At       Time
	Source   Source
}

// ExactEnd returns an end at one moment.
func ExactEnd(at Time, source Source) End { return End{Earliest: at, At: at, Source: source} }

// Open reports whether there is no end.
func (e End) Open() bool { return e.At == 0 }

// Estimated reports whether the end is only known to lie in a range.
func (e End) Estimated() bool { return e.At != 0 && e.Earliest != e.At }

// Point returns the moment at which a policy places the end; zero for an open interval. If clocks
// disagree, an end may lie before the interval's start: the interval is then empty.
func (e End) Point(p EndEstimate) Time {
	switch {
	case !e.Estimated() || p == EstimateLatest:
		return e.At
	case p == EstimateEarliest:
		return e.Earliest
	}
	return e.Earliest + (e.At-e.Earliest)/2
}

// Bound returns by how many milliseconds the end may differ from its Point; zero if the end is
// exact.
func (e End) Bound(p EndEstimate) Time {
	if !e.Estimated() {
		return 0
	}
	point := e.Point(p)
	return max(point-e.Earliest, e.At-point)
}

// Source is the source of the start or the end of a pod's interval. Of several, the best one
// counts: the lists start with it.
type Source string

// The sources of ends, from best to worst. The better one wins a merge.
const (
	// Rejected is the end of a pod that its kubelet rejected, such as OutOfnvidia.com/gpu. It ends
	// when it starts, since it never held a device.
	Rejected          Source = "rejected"
	ContainerFinished Source = "container_finished" // the last end of a container
	DisruptionTarget  Source = "disruption_target"  // when the condition DisruptionTarget became true
	NotReady          Source = "not_ready"          // when Ready or ContainersReady became false
	StatusWritten     Source = "status_written"     // the last write of the pod's status
	InstanceEnded     Source = "instance_ended"     // the end of the instance
	NodeGone          Source = "node_gone"          // when the node disappeared
	SeenTerminal      Source = "seen_terminal"      // the first run that observed the end
	DeletionTimestamp Source = "deletion_timestamp" // the deletion timestamp, which includes the grace period
	Event             Source = "event"              // a Kubernetes Event
	Estimated         Source = "estimated"          // between the last run that observed the pod and the first that missed it
)

// The sources of starts, from best to worst.
const (
	PodScheduled     Source = "pod_scheduled"     // when the condition PodScheduled became true
	StartTime        Source = "start_time"        // the pod's `status.startTime`
	ContainerStarted Source = "container_started" // the earliest start of a container
	Created          Source = "created"           // the pod's creation timestamp
)

// EndEstimate is where in its range an estimated end is placed.
type EndEstimate string

// The policies. Any other value means the midpoint.
const (
	EstimateEarliest EndEstimate = "earliest"
	EstimateMidpoint EndEstimate = "midpoint"
	EstimateLatest   EndEstimate = "latest"
)
