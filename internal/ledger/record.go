// Package ledger keeps the intervals in which pods held GPUs, so that they
// outlive the pods. It knows nothing of Kubernetes and does no IO: it merges,
// closes, shards and encodes.
package ledger

import "math/big"

// Time is a moment in milliseconds since 1970 in UTC; zero is none.
type Time int64

// Record is one pod's interval. Records share what many pods have in common, so
// that a million of them fit into memory; what is behind a pointer is never
// changed.
type Record struct {
	UID   string
	Name  string
	Set   *LabelSet
	Owner *Owner
	Held  *Holding
	Place *Place
	Start Start // scheduled
	Runs  Start // the first container's start; zero before
	End   End
	// Deletion is the deletion timestamp of a pod whose deletion was asked for:
	// it caps an interval that stays open although the node is gone.
	Deletion Time
}

// LabelSet is what selectors ask of a pod, frozen when it was first seen.
type LabelSet struct {
	Namespace       string
	Labels          map[string]string
	NamespaceLabels map[string]string
}

// Owner is the controller of a pod.
type Owner struct{ APIVersion, Kind, Name, UID string }

// Holding is what a pod holds, frozen when it was first seen.
type Holding struct {
	Shares []Share // by resource
}

// Share is what is held of one resource: units, and the GPUs that each is worth.
type Share struct {
	Resource      string
	Units, Weight *big.Rat
}

// Place is where a pod ran.
type Place struct {
	Node         string
	Model        string // the GPU's
	InstanceType string
	InstanceID   string // the cloud's
	SpotPool     string // "region/name"; empty for a node of no pool
}

// Start is when an interval begins, and how that is known.
type Start struct {
	At     Time
	Source Source
}

// End is when an interval ends. Where that is estimated, it lies somewhere in
// [Earliest, At]; else both are the same. Zero At is an open interval.
type End struct {
	Earliest Time
	At       Time
	Source   Source
}

// Source says how a moment is known. Package gpu's sources have the same texts.
type Source string

// The sources of ends, from best to worst. The better one wins a merge.
const (
	ContainerFinished Source = "container_finished"
	DisruptionTarget  Source = "disruption_target"
	NotReady          Source = "not_ready"
	DeletionTimestamp Source = "deletion_timestamp"
	StatusWritten     Source = "status_written"
	SeenTerminal      Source = "seen_terminal"
	InstanceEnded     Source = "instance_ended" // the spot pool's record, or the cloud
	NodeGone          Source = "node_gone"
	Event             Source = "event"
	Estimated         Source = "estimated" // between the last run that saw it and the one that missed it
)

// The sources of starts, from best to worst.
const (
	PodScheduled     Source = "pod_scheduled"
	StartTime        Source = "start_time"
	ContainerStarted Source = "container_started"
	Created          Source = "created"
)

// VanishedPolicy says where in its range an estimated end is taken to be.
type VanishedPolicy string

// The policies.
const (
	AtLastRun  VanishedPolicy = "last_run"
	AtMidpoint VanishedPolicy = "midpoint"
	AtNow      VanishedPolicy = "now"
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
	Gaps            []Gap
	// Lost says what could not be read and was begun anew, for a person.
	Lost []string
}

// Gap is a time that no observation and no replay covers: what began and ended
// in it was never seen.
type Gap struct {
	From, To Time
	// GPUs is how many the cluster's nodes could have given, the bound of what
	// was missed.
	GPUs   *big.Rat
	Reason string
}
