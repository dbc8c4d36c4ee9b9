package gpu

import (
	"math/big"
	"time"
)

// ObserveOptions say what to observe.
type ObserveOptions struct {
	// From is where the replay begins; empty for none.
	From string
	// Nodes are those of earlier observations, deleted or not.
	Nodes []Node
	// List requests a list of all pods even if the replay is complete.
	List bool
	// Relist decides on such a list from the observation; nil never does.
	Relist func(at time.Time, nodes []Node) bool
	Rules  Rules
}

// Observation is one observation of a cluster.
type Observation struct {
	ClusterUID string
	At         time.Time // the API server's clock, from its Date header
	// ResourceVersion is where the next replay begins.
	ResourceVersion string
	Replay          Replay
	// Listed says that Pods are complete. They are all pods that hold or request GPUs, and all that
	// have devices by claim, even if these can no longer be read. Otherwise Pods are those that
	// changed since the replay began.
	Listed bool
	Pods   []Pod
	// Nodes are all nodes of the cluster, each with its largest observed capacity.
	Nodes []Node
	// Namespaces are the labels of every namespace, by name. They include the annotation that
	// protects a namespace.
	Namespaces map[string]map[string]string
	// Allocatable is how many GPUs the nodes could assign to pods now.
	Allocatable *big.Rat
	// PriorityClasses are the values of the priority classes, by name.
	PriorityClasses map[string]int32
	Warnings        []string
}

// Replay is what the watch reported of the time since the last run.
type Replay struct {
	// Complete says that nothing is missing between the last run and this one.
	Complete bool
	// Reason says why it is not complete.
	Reason string
	// Ended are the pods that were deleted since, in their last state.
	Ended []Pod
	// Nodes are the reported nodes that are gone. They need not be complete: pods on the others are
	// estimates.
	Nodes []Node
	// Former are the labels of their namespaces, by the UID of the pod, if these were deleted or
	// replaced. It is nil if unknown, and FormerMissing may say why.
	Former        map[string]map[string]string
	FormerMissing string
}
