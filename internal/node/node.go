package node

import (
	"errors"
	"slices"
	"time"
)

// Readiness is the status of a node's condition Ready, as the cluster has it.
type Readiness string

// The statuses of a condition. A node without that condition, as one that just came, is
// ReadyUnknown.
const (
	ReadyTrue    Readiness = "True"
	ReadyFalse   Readiness = "False"
	ReadyUnknown Readiness = "Unknown"
)

// Node is a Kubernetes node, as observed.
type Node struct {
	// The node's name.
	Name string `json:"name"`
	// The node's UID.
	UID string `json:"uid"`
	// The node's provider ID.
	ProviderID string `json:"provider_id,omitempty"`
	// Its internal addresses.
	Addresses []string `json:"addresses,omitempty"`
	// When it was created.
	CreatedAt time.Time `json:"created_at"`
	// The status of its condition Ready.
	Ready Readiness `json:"ready"`
	// When its condition Ready last changed.
	ReadySince time.Time `json:"ready_since,omitzero"`
	// Whether it is cordoned.
	Cordoned bool `json:"cordoned,omitempty"`
	// The UID of the pool that marked it.
	Pool string `json:"pool_uid,omitempty"`
	// The UID of the pool that cordoned it. Absent if another user did.
	CordonedBy string `json:"cordoned_by,omitempty"`
	// When Tencent Cloud reclaims its instance, according to its interruption notice.
	TakenAt time.Time `json:"taken_at,omitzero"`
	// How many of its pods are deleted before that, according to its notice.
	Reach Reach `json:"reach,omitzero"`
	// The number of pods with GPUs on it, if they were counted.
	GPUPods int `json:"gpu_pods,omitempty"`
}

// Silent reports whether no kubelet reports for the node: a kubelet writes True and False,
// and the node controller alone writes Unknown.
func (n Node) Silent() bool { return n.Ready != ReadyTrue && n.Ready != ReadyFalse }

// Observation is the observed nodes of a cluster. The zero value is a failed observation.
type Observation struct {
	ClusterUID string    `json:"cluster_uid"` // empty: not seen
	At         time.Time `json:"at"`
	// Pods says that the pods with GPUs were counted: where they were not, a node's
	// count says nothing.
	Pods  bool   `json:"pods,omitempty"`
	Nodes []Node `json:"nodes,omitempty"`
	// Elsewhere are instances of Tencent Cloud that are not the pool's, and that nodes with an address of the
	// pool's claim to be.
	Elsewhere []Instance `json:"elsewhere,omitempty"`
}

// Observed reports whether the cluster was observed: only then, a missing node is known to be
// gone.
func (o Observation) Observed() bool { return o.ClusterUID != "" }

// Node is the observed one with a UID; false if there is none.
func (o Observation) Node(uid string) (Node, bool) {
	at := slices.IndexFunc(o.Nodes, func(n Node) bool { return uid != "" && n.UID == uid })
	if at < 0 {
		return Node{}, false
	}
	return o.Nodes[at], true
}

// ErrChanged says that a node is not, or not any more, what was seen.
var ErrChanged = errors.New("the node was replaced, or another process changed it: the next run retries")

// Counted is the observation with how many pods with GPUs are on each node, by name.
func (o Observation) Counted(pods map[string]int) Observation {
	o.Pods, o.Nodes = true, slices.Clone(o.Nodes)
	for at := range o.Nodes {
		o.Nodes[at].GPUPods = pods[o.Nodes[at].Name]
	}
	return o
}
