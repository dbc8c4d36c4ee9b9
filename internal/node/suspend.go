package node

import (
	"fmt"
	"slices"
)

// LateInARow is how many successive instances of one configuration must fail to join to suspend replacing:
// the configuration is then the cause.
const LateInARow = 2

// Streak are the instances of one configuration that were replaced since they never
// joined, with none in between that did.
type Streak struct {
	Configuration string   `json:"config"`
	InstanceIDs   []string `json:"instance_ids"`
}

// Long reports whether so many never joined that no more is replaced.
func (s Streak) Long() bool { return len(s.InstanceIDs) >= LateInARow }

// Late is the streak after an instance of a configuration never joined.
func (s Streak) Late(configuration, instanceID string) Streak {
	if s.Configuration != configuration {
		s = Streak{Configuration: configuration}
	}
	if !slices.Contains(s.InstanceIDs, instanceID) {
		s.InstanceIDs = append(slices.Clone(s.InstanceIDs), instanceID)
	}
	return s
}

// Joined is the streak after an instance of a configuration joined.
func (s Streak) Joined(configuration string) Streak {
	if s.Configuration == configuration {
		return Streak{}
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

// Suspended returns why nothing is replaced; empty if it may be. pool counts one pool's
// nodes, cluster those of all pools of its cluster, its own included.
func Suspended(s Streak, pool, cluster Count) string {
	switch {
	case s.Long():
		return fmt.Sprintf("%d instances of the configuration %s in a row never joined the cluster", len(s.InstanceIDs), s.Configuration)
	case pool.Many():
		return fmt.Sprintf("%d of the pool's %d nodes fail at once", pool.Failed, pool.Nodes)
	case cluster.Many():
		return fmt.Sprintf("%d of the %d nodes that all pools have in the cluster fail at once", cluster.Failed, cluster.Nodes)
	}
	return ""
}

// Awaited returns why no replacement begins although replacing is not suspended yet, or "" if few nodes are
// not Ready. A failure of many nodes takes minutes to show, and the first failed node is one of them.
func Awaited(pool, cluster Count) string {
	pool.Failed, cluster.Failed = pool.Failed+pool.Unready, cluster.Failed+cluster.Unready
	switch {
	case pool.Many():
		return fmt.Sprintf("%d of the pool's %d nodes are not Ready", pool.Failed, pool.Nodes)
	case cluster.Many():
		return fmt.Sprintf("%d of the %d nodes that all pools have in the cluster are not Ready", cluster.Failed, cluster.Nodes)
	}
	return ""
}
