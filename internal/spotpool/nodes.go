package spotpool

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Nodes says that a pool's instances become nodes of a cluster, and what follows.
type Nodes struct {
	JoinTimeout           Duration `json:"join_timeout"`      // from running to a Ready node
	UnhealthyTimeout      Duration `json:"unhealthy_timeout"` // not Ready for so long
	MaxReplacementsPerRun int      `json:"max_replacements_per_run"`
	// MatchAddress takes a node without a provider id for the instance that has its
	// private address.
	MatchAddress bool `json:"match_address,omitempty"`
	// Labels are those that the nodes will have: they say which pods a pool that grew
	// could take.
	Labels map[string]string `json:"labels,omitempty"`
	Drain  Drain             `json:"drain"`
}

// Drain says how nodes are emptied before their instances end.
type Drain struct {
	Timeout   Duration       `json:"timeout"`
	OnTimeout node.OnTimeout `json:"on_timeout"`
	Unmanaged node.Unmanaged `json:"unmanaged"`
}

// Defaults of nodes.
const (
	DefaultJoinTimeout      = Duration(15 * 60e9)
	DefaultUnhealthyTimeout = Duration(10 * 60e9)
	DefaultMaxReplacements  = 1
	DefaultDrainTimeout     = Duration(10 * 60e9)
)

// withDefaults fills in what is left out.
func (n Nodes) withDefaults() *Nodes {
	n.JoinTimeout = cmp.Or(n.JoinTimeout, DefaultJoinTimeout)
	n.UnhealthyTimeout = cmp.Or(n.UnhealthyTimeout, DefaultUnhealthyTimeout)
	n.MaxReplacementsPerRun = cmp.Or(n.MaxReplacementsPerRun, DefaultMaxReplacements)
	n.Drain.Timeout = cmp.Or(n.Drain.Timeout, DefaultDrainTimeout)
	n.Drain.OnTimeout = cmp.Or(n.Drain.OnTimeout, node.Terminate)
	n.Drain.Unmanaged = cmp.Or(n.Drain.Unmanaged, node.Wait)
	return &n
}

// Timeouts are how long an instance may take to join, and to recover.
func (n Nodes) Timeouts() node.Timeouts {
	return node.Timeouts{Join: time.Duration(n.JoinTimeout), Unhealthy: time.Duration(n.UnhealthyTimeout)}
}

// asNode is what of an instance tells its node.
func (i Instance) asNode() node.Instance {
	return node.Instance{ID: i.ID, PrivateIP: i.PrivateIP, LaunchedAt: i.LaunchedAt}
}

// asNodes remembers what the look showed of the instances as nodes, and whether one of
// a configuration that never joined did join after all; j must be a clone that has an
// entry for each instance found, in the same order.
func (j *Journal) asNodes(d Declaration, found []OwnInstance, of node.Matches, now time.Time) {
	if d.Nodes == nil {
		j.forgetDrains()
		return
	}
	if c := j.NeverJoined.Configuration; c != "" && NewConfigurations(d, j.AcceptedConfigurations).Outdated(c) {
		j.NeverJoined = node.Streak{} // another configuration may join
	}
	for n, i := range found {
		was, match := j.Known[n].Node, of.Of(i.ID)
		j.Known[n].Node = was.Seen(match, i.State == StateRunning, d.Nodes.Timeouts(), now)
		if match.Standing != node.Present {
			j.Known[n].Drain = j.Known[n].Drain.Missed()
		}
		j.metNode(was, j.Known[n], now)
		if was.JoinedAt.IsZero() && !j.Known[n].Node.JoinedAt.IsZero() {
			j.NeverJoined = j.NeverJoined.Joined(i.ConfigurationTag)
		}
	}
}

// forgetDrains forgets what was remembered of nodes, but for drains that are still to
// be undone; j must be a clone.
func (j *Journal) forgetDrains() {
	for n := range j.Known {
		k := &j.Known[n]
		k.Node, k.ReplacedSince = node.Memory{}, time.Time{}
		if !k.Drain.Holds() {
			k.Drain = node.Drain{}
		}
	}
}

// AsksCluster reports whether decisions about the pool depend on a cluster: it has
// nodes, or had some, and what was done to them is to be undone, or their tokens are to
// end.
func (d Declaration) AsksCluster(j Journal) bool {
	return d.Nodes != nil || len(j.Minted) > 0 || slices.ContainsFunc(j.Known, func(k Known) bool { return k.Drain.Holds() })
}

// WereNodes reports whether an instance that is gone was a node whose own end was not
// seen yet.
func (j Journal) WereNodes() bool {
	return slices.ContainsFunc(j.Past, func(p Past) bool { return p.Node.UID != "" })
}

// NodeInstances are what tells the nodes of the pool's instances.
func NodeInstances(list []Instance) []node.Instance {
	out := make([]node.Instance, len(list))
	for n, i := range list {
		out[n] = i.asNode()
	}
	return out
}

// Unconfirmed are the recorded instances that were nodes, and of which it is not known
// for sure that they are gone.
func (j Journal) Unconfirmed() []string {
	var ids []string
	for _, k := range j.Known {
		if k.Node.UID != "" {
			ids = append(ids, k.InstanceID)
		}
	}
	for _, p := range j.Past {
		if p.Node.UID != "" && !p.Confirmed {
			ids = append(ids, p.InstanceID)
		}
	}
	return ids
}
