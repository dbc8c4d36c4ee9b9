package spotpool

import (
	"cmp"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Nodes says that a pool's instances become nodes of a cluster, and how these are handled.
type Nodes struct {
	JoinTimeout           Duration `json:"join_timeout"`      // from running to a Ready node
	UnhealthyTimeout      Duration `json:"unhealthy_timeout"` // not Ready for so long
	MaxReplacementsPerRun int      `json:"max_replacements_per_run"`
	// MatchAddress matches a node without a provider ID by the private address of an
	// instance.
	MatchAddress bool `json:"match_address,omitempty"`
	// ExpectedLabels are the labels of future nodes. They show which pods a larger pool
	// could run.
	ExpectedLabels map[string]string `json:"expected_labels,omitempty"`
	Drain          Drain             `json:"drain"`
}

// Drain says how nodes are drained before their instances are terminated.
type Drain struct {
	Timeout       Duration       `json:"timeout"`
	OnTimeout     node.OnTimeout `json:"on_timeout"`
	UnmanagedPods node.Unmanaged `json:"unmanaged_pods"`
}

// Defaults of nodes.
const (
	DefaultJoinTimeout      = Duration(15 * 60e9)
	DefaultUnhealthyTimeout = Duration(10 * 60e9)
	DefaultMaxReplacements  = 1
	DefaultDrainTimeout     = Duration(10 * 60e9)
)

func (n Nodes) withDefaults() *Nodes {
	n.JoinTimeout = cmp.Or(n.JoinTimeout, DefaultJoinTimeout)
	n.UnhealthyTimeout = cmp.Or(n.UnhealthyTimeout, DefaultUnhealthyTimeout)
	n.MaxReplacementsPerRun = cmp.Or(n.MaxReplacementsPerRun, DefaultMaxReplacements)
	n.Drain.Timeout = cmp.Or(n.Drain.Timeout, DefaultDrainTimeout)
	n.Drain.OnTimeout = cmp.Or(n.Drain.OnTimeout, node.Terminate)
	n.Drain.UnmanagedPods = cmp.Or(n.Drain.UnmanagedPods, node.Wait)
	return &n
}

// Timeouts returns how long an instance may take to join, and to recover.
func (n Nodes) Timeouts() node.Timeouts {
	return node.Timeouts{Join: time.Duration(n.JoinTimeout), Unhealthy: time.Duration(n.UnhealthyTimeout)}
}

func (i Instance) asNode() node.Instance {
	return node.Instance{ID: i.ID, PrivateIP: i.PrivateIP, LaunchedAt: i.LaunchedAt}
}

// NodeInstances returns instances as they are matched with nodes.
func NodeInstances(list []Instance) []node.Instance {
	out := make([]node.Instance, len(list))
	for n, i := range list {
		out[n] = i.asNode()
	}
	return out
}
