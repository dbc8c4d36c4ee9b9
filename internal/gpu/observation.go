package gpu

import (
	"math/big"
	"time"
)

// ObserveOptions say what to look at.
type ObserveOptions struct {
	// From is where the replay begins; empty for none.
	From string
	// Nodes are those that earlier looks saw, gone or not.
	Nodes []Node
	// List asks for a list of all pods also where the replay is complete.
	List bool
	// Relist asks for such a list by what the look shows; nil never does.
	Relist func(at time.Time, nodes []Node) bool
	Rules  Rules
}

// Observation is one look at a cluster.
type Observation struct {
	ClusterUID string
	At         time.Time // the API server's clock, from its Date header
	// ResourceVersion is where the next replay begins.
	ResourceVersion string
	Replay          Replay
	// Listed says that Pods are all pods that hold GPUs, or are to, or say so, and all that
	// have devices by claim, even where these can no longer be read. Else they are
	// those that changed since the replay's beginning.
	Listed bool
	Pods   []Pod
	// Nodes are all nodes of the cluster, each with the most that was ever seen of
	// it.
	Nodes []Node
	// Namespaces are the labels of every namespace, by name; the annotation that
	// protects one is among them.
	Namespaces map[string]map[string]string
	// Allocatable is how many GPUs the nodes could give to pods now.
	Allocatable *big.Rat
	// PriorityClasses are the values of the priority classes, by name.
	PriorityClasses map[string]int32
	Warnings        []string
}

// Replay is what the watch told of the time since the last run.
type Replay struct {
	// Complete says that nothing can be missing between the last run and this one.
	Complete bool
	// Reason says why it is not complete.
	Reason string
	// Ended are the pods that were deleted since, as they last were.
	Ended []Pod
	// Nodes are the nodes that it told of and that are gone. That this is not all of
	// them makes no replay incomplete: pods on the others are estimates.
	Nodes []Node
	// Former are the labels of their namespaces, by the uid of the pod, where these
	// are gone as well, or others of the same name by now; nil where nothing tells,
	// for which FormerMissing may say why.
	Former        map[string]map[string]string
	FormerMissing string
}
