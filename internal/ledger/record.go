package ledger

import (
	"math/big"
	"slices"
	"strings"
)

// Record is one pod's interval. What is behind a pointer is shared by records
// and never changed.
type Record struct {
	UID  string
	Name string
	// Seen is when the run looked (by the server's clock) that first saw the pod.
	// What is frozen is frozen as of then: Name, Set and Owner are always those of
	// the record with the earliest Seen.
	Seen  Time
	Set   *LabelSet
	Owner *Owner // nil for a pod without one
	// Allocation is frozen too, but one that the pod's node bears out better wins.
	Allocation *Allocation
	// AllocationSeen is when Allocation was seen; zero is at Seen.
	AllocationSeen Time
	// Place is frozen too, but one of which more is known wins: a node may get
	// its labels after its first pods.
	Place *Place
	// PlaceSeen is when Place was seen; zero is at Seen.
	PlaceSeen Time
	Start     Start // scheduled
	Runs      Start // the first container's start; zero before
	End       End
	// Deletion is the deletion timestamp of a pod whose deletion was asked for:
	// the earliest that was seen, since a deletion can only be brought forward.
	Deletion Time
}

// Open says whether the pod still holds what it held, as far as is known.
func (r *Record) Open() bool { return r.End.Open() }

// LabelSet is what selectors ask of a pod, frozen when it was first seen. Pods
// of Jobs have labels that no other Job's have: who judges many records by few
// keys does well to look at each set's values of these keys alone.
type LabelSet struct {
	Namespace       string `json:"namespace"`
	Labels          Labels `json:"labels,omitempty"`
	NamespaceLabels Labels `json:"namespace_labels,omitempty"`

	id int32
}

// ID numbers the sets of one ledger, from 0 on without holes. It is meaningful for
// sets that the ledger gave, not for those it was given.
func (s *LabelSet) ID() int { return int(s.id) }

// Labels are labels in the order of their keys. They are what the package labels
// of Kubernetes calls Labels.
type Labels []Label

// Label is one label.
type Label struct{ Key, Value string }

// LabelsOf sorts labels; nil for none.
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

// Lookup returns the value of a label, and whether it is there.
func (l Labels) Lookup(key string) (string, bool) {
	for n := range l {
		if l[n].Key == key {
			return l[n].Value, true
		}
	}
	return "", false
}

// Get returns the value of a label; empty where it is not there.
func (l Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}

// Has says whether a label is there.
func (l Labels) Has(key string) bool {
	_, there := l.Lookup(key)
	return there
}

// Owner is the controller of a pod.
type Owner struct {
	APIVersion string `json:"api_version"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"` // of a pod's there is always one
}

// Allocation is what a pod holds. A record's is frozen as it was first seen.
type Allocation struct {
	Shares []Share // by resource
	// Shown is by how much the pod's node bears it out. At 0 nothing does, neither that
	// there is such a node nor how many GPUs it has: the pod's word alone, and an
	// estimate. Else it is 1, and more the more the node told of its GPUs.
	Shown int
	// Capped says that the pod asked for more, and that its node was not known to have
	// more.
	Capped bool

	id int32
}

// GPUs is what all of it is worth by the ledger's own weights.
func (a *Allocation) GPUs() *big.Rat {
	total := new(big.Rat)
	for n := range a.Shares {
		total.Add(total, new(big.Rat).Mul(a.Shares[n].Units, a.Shares[n].Weight))
	}
	return total
}

// Shared says whether other pods may hold any of it, too.
func (a *Allocation) Shared() bool {
	for n := range a.Shares {
		if a.Shares[n].Claim != "" {
			return true
		}
	}
	return false
}

// ID numbers the allocations that a ledger gave, from 0 on without holes.
func (a *Allocation) ID() int { return int(a.id) }

// Share is what is held of one resource: units, and the GPUs that each is worth.
// Both are 0 or more.
type Share struct {
	Resource      string
	Units, Weight *big.Rat
	// Claim names what other pods may hold as well; empty for what they can't. Who
	// adds up divides it, at each moment, among the pods that hold it.
	Claim string
	// Whole is how many units the claim has, where pods ask for parts of it: each
	// holds the Units that it asked for, and all of them together no more than the
	// whole. Nil is all of them: each asked for the whole.
	Whole *big.Rat
}

// Asked is how much of its claim a share asks for: one is the whole.
func (s *Share) Asked() *big.Rat {
	if s.Whole == nil {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).Quo(s.Units, s.Whole)
}

// whole is the text of a share's Whole; empty for none.
func (s *Share) whole() string {
	if s.Whole == nil {
		return ""
	}
	return s.Whole.RatString()
}

// Place is where a pod ran.
type Place struct {
	Node         string
	Model        string // the GPU's
	InstanceType string
	InstanceID   string // the cloud's
	SpotPool     string // "region/name"; empty for a node of no pool

	id int32
}

// ID numbers the places that a ledger gave, from 0 on without holes.
func (p *Place) ID() int { return int(p.id) }

// Start is when an interval begins, and how that is known.
type Start struct {
	At     Time
	Source Source
}

// End is when an interval ends: exactly At where Earliest is the same, else
// somewhere in [Earliest, At]. Zero At is an open interval; Earliest is then
// when the pod was seen to hold again after an estimated end, or zero.
type End struct {
	Earliest Time
	At       Time
	Source   Source
}

// ExactEnd is an end at one moment.
func ExactEnd(at Time, source Source) End { return End{Earliest: at, At: at, Source: source} }

// Open says whether there is no end.
func (e End) Open() bool { return e.At == 0 }

// Estimated says whether the end is known only to lie in a range.
func (e End) Estimated() bool { return e.At != 0 && e.Earliest != e.At }

// Point is the moment that a policy takes the end to be; zero for an open
// interval. An end may lie before the interval's start where clocks disagree:
// the interval is then empty.
func (e End) Point(p EndEstimate) Time {
	switch {
	case !e.Estimated() || p == EstimateLatest:
		return e.At
	case p == EstimateEarliest:
		return e.Earliest
	}
	return e.Earliest + (e.At-e.Earliest)/2
}

// Bound is by how many milliseconds the end may lie away from its Point, either
// way; zero where it is not estimated.
func (e End) Bound(p EndEstimate) Time {
	if !e.Estimated() {
		return 0
	}
	point := e.Point(p)
	return max(point-e.Earliest, e.At-point)
}

// Source says how a moment is known.
type Source string

// The sources of ends, from best to worst. The better one wins a merge.
const (
	// Rejected is the end of a pod that its kubelet refused, such as
	// OutOfnvidia.com/gpu: it ends where it starts, for no device was its own.
	Rejected          Source = "rejected"
	ContainerFinished Source = "container_finished" // the last end of a container
	DisruptionTarget  Source = "disruption_target"  // the condition's last transition
	NotReady          Source = "not_ready"          // Ready or ContainersReady became false
	StatusWritten     Source = "status_written"     // managedFields' time of the last status write
	InstanceEnded     Source = "instance_ended"     // the spot pool's record, or the cloud
	NodeGone          Source = "node_gone"
	SeenTerminal      Source = "seen_terminal"      // the first run that found it ended
	DeletionTimestamp Source = "deletion_timestamp" // which includes the grace period
	Event             Source = "event"
	Estimated         Source = "estimated" // between the last run that saw it and the one that missed it
)

// The sources of starts, from best to worst.
const (
	PodScheduled     Source = "pod_scheduled"     // the condition's last transition
	StartTime        Source = "start_time"        // status.startTime, the kubelet's
	ContainerStarted Source = "container_started" // the earliest start of a container
	Created          Source = "created"           // metadata.creationTimestamp
)

// EndEstimate says where in its range an estimated end is taken to be.
type EndEstimate string

// The policies. Any other text is taken as the midpoint.
const (
	EstimateEarliest EndEstimate = "earliest"
	EstimateMidpoint EndEstimate = "midpoint"
	EstimateLatest   EndEstimate = "latest"
)
