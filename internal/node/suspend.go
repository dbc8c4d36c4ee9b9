package node

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// FailuresInARow is how many successive instances of a configuration must fail before they are proven to
// suspend replacing: the configuration is then the cause.
const FailuresInARow = 2

// Streak are the replaced instances of a pool's configuration, in any offering, that failed before they were
// [Status.Proven]. None that joined since was proven.
type Streak struct {
	Configuration string   `json:"config"`
	InstanceIDs   []string `json:"instance_ids"`
	// Since is when the first of them failed.
	Since time.Time `json:"since,omitzero"`
}

// Long reports whether so many failed that no more is replaced.
func (s Streak) Long() bool { return len(s.InstanceIDs) >= FailuresInARow }

// Failed is the streak after an instance of the configuration failed before it was proven.
func (s Streak) Failed(configuration, instanceID string, at time.Time) Streak {
	if s.Configuration != configuration {
		s = Streak{Configuration: configuration, Since: at}
	}
	if !slices.Contains(s.InstanceIDs, instanceID) {
		s.InstanceIDs = append(slices.Clone(s.InstanceIDs), instanceID)
	}
	return s
}

// Count counts nodes, those of them that fail, and those that are not Ready and may recover
// before they do.
type Count struct {
	Nodes   int `json:"nodes"`
	Failed  int `json:"failed"`
	Unready int `json:"unready,omitempty"`
}

// Plus adds two counts.
func (c Count) Plus(other Count) Count {
	return Count{Nodes: c.Nodes + other.Nodes, Failed: c.Failed + other.Failed, Unready: c.Unready + other.Unready}
}

// Many reports whether so many fail at once that the fault is likely none of theirs:
// more than a third, and at least two.
func (c Count) Many() bool { return c.Failed >= 2 && 3*c.Failed > c.Nodes }

// Suspended returns why nothing is replaced; zero if it may be. pool counts one pool's
// nodes, cluster those of all pools of its cluster, its own included.
func Suspended(s Streak, pool, cluster Count) reason.Reason {
	switch {
	case s.Long():
		return reason.FailedInARow(reason.Count(len(s.InstanceIDs)))
	case pool.Many():
		return reason.NodesFail(reason.Count(pool.Failed), reason.Count(pool.Nodes))
	case cluster.Many():
		return reason.ClusterNodesFail(reason.Count(cluster.Failed), reason.Count(cluster.Nodes))
	}
	return reason.Reason{}
}

// Awaited returns why no replacement begins although replacing is not suspended yet; zero if few nodes are
// not Ready. A failure of many nodes takes minutes to show, and the first failed node is one of them.
func Awaited(pool, cluster Count) reason.Reason {
	pool.Failed, cluster.Failed = pool.Failed+pool.Unready, cluster.Failed+cluster.Unready
	switch {
	case pool.Many():
		return reason.NodesUnready(reason.Count(pool.Failed), reason.Count(pool.Nodes))
	case cluster.Many():
		return reason.ClusterNodesUnready(reason.Count(cluster.Failed), reason.Count(cluster.Nodes))
	}
	return reason.Reason{}
}
