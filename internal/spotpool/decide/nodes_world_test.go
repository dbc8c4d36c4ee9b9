package decide_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// cluster is what of a cluster pools meet: machines become its nodes, have pods, and
// lose them when they are drained.
type cluster struct {
	away       bool                  // it is unreachable
	uncounted  bool                  // its pods cannot be counted
	joinsAfter time.Duration         // from running to Ready
	never      map[string]bool       // machines that never join
	sick       map[string]time.Time  // machines whose nodes are not Ready, and since when
	nodes      map[string]*node.Node // by machine
	pods       map[string]int        // by machine
	stubborn   map[string]bool       // machines whose pods cannot be evicted
	running    map[string]time.Time  // since when machines have run
	cordonedBy map[string]string     // what a person cordoned, by machine
	oddities
}

func newCluster() *cluster {
	return &cluster{
		joinsAfter: 2 * time.Minute, never: map[string]bool{}, sick: map[string]time.Time{}, nodes: map[string]*node.Node{}, pods: map[string]int{},
		stubborn: map[string]bool{}, running: map[string]time.Time{}, cordonedBy: map[string]string{}, oddities: newOddities(),
	}
}

// see lets the cluster notice what became of the machines.
func (c *cluster) see(w *world) {
	there := map[string]bool{}
	for _, m := range w.machines {
		there[m.ID] = true
	}
	for _, m := range w.machines {
		if m.launched && m.PrivateIP == "" && m.State == spotpool.StateRunning {
			m.PrivateIP = c.address(there)
		}
		switch {
		case m.State == spotpool.StateRunning:
			if c.running[m.ID].IsZero() {
				c.running[m.ID] = w.now
			}
			if c.nodes[m.ID] == nil && !c.never[m.ID] && w.now.Sub(c.running[m.ID]) >= c.joinsAfter {
				c.join(w, m, there)
			}
		case c.nodes[m.ID] != nil:
			c.turns(c.nodes[m.ID], node.ReadyUnknown, w.now)
		}
		if n := c.nodes[m.ID]; n != nil && m.State == spotpool.StateRunning {
			ready := node.ReadyTrue
			if !c.sick[m.ID].IsZero() || c.flaps[m.ID] && w.now.Unix()/60%2 == 0 {
				ready = node.ReadyUnknown
			}
			c.turns(n, ready, w.now)
			if c.renews[m.ID] {
				n.TakenAt = w.now.Add(node.NoticeAhead)
			}
		}
	}
	for id, n := range c.nodes {
		if !there[id] {
			c.turns(n, node.ReadyUnknown, w.now)
		}
	}
}

func (c *cluster) observe(w *world) node.Observation {
	if c == nil || c.away {
		return node.Observation{}
	}
	c.see(w)
	l := node.Observation{ClusterUID: clusterUID, At: w.now}
	for _, n := range c.nodes {
		l.Nodes = append(l.Nodes, *n)
	}
	l.Nodes = append(l.Nodes, c.strangers...)
	slices.SortFunc(l.Nodes, func(a, b node.Node) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.UID, b.UID))
	})
	if c.uncounted {
		return l
	}
	gpuPods := map[string]int{}
	for id, n := range c.nodes {
		gpuPods[n.Name] = c.pods[id]
	}
	return l.Counted(gpuPods)
}

// drain is one attempt of a run: it cordons, and evicts what it can.
func (c *cluster) drain(id, poolUID string) node.Progress {
	n := c.nodes[id]
	if c.away || n == nil {
		return node.Progress{}
	}
	if !n.Cordoned {
		n.Cordoned, n.CordonedBy = true, poolUID
	}
	if !c.stubborn[id] {
		c.pods[id] = max(0, c.pods[id]-1)
	}
	return node.Progress{Cordoned: true, Observed: true, Left: c.pods[id]}
}

func (c *cluster) uncordon(uid, poolUID string) {
	if _, n := c.byUID(uid); n != nil && n.CordonedBy == poolUID {
		n.Cordoned, n.CordonedBy = false, ""
	}
}

// node carries out a decision about a node, as a run does; it reports whether the run
// goes on.
func (w *world) node(d spotpool.Decision, kind faultKind, run *decide.SoFar) (goesOn bool, err error) {
	id := d.InstanceIDs[0]
	if wrong := w.cluster.forbids(w, d); wrong != nil {
		return false, wrong
	}
	switch d.Kind {
	case spotpool.KindDrain:
		run.Drained = append(run.Drained, id)
		w.journal = w.journal.RequestDrain(d, w.now)
		if kind == killedAfterIntent || kind == lostBeforeEffect {
			return false, nil
		}
		progress := w.cluster.drain(id, w.d.UID)
		if kind != noFault {
			return false, nil
		}
		w.journal = w.journal.RecordDrain(id, progress, w.d.Nodes.Drain, w.now)
	case spotpool.KindUncordon:
		run.Uncordoned = append(run.Uncordoned, d.Node.Name)
		if kind == killedAfterIntent || kind == lostBeforeEffect {
			return false, nil
		}
		w.cluster.uncordon(d.Node.UID, w.d.UID)
		if kind != noFault {
			return false, nil
		}
		w.journal = w.journal.RecordUncordon(id, w.now)
	case spotpool.KindDeleteNode:
		run.Forgotten = append(run.Forgotten, id)
		w.journal.Fleet = w.journal.DeleteNode(d, w.now)
		if slices.ContainsFunc(w.machines, func(m *machine) bool { return m.ID == id }) {
			return false, fmt.Errorf("the node of %s is deleted, which is there", id)
		}
		if kind == killedAfterIntent || kind == lostBeforeEffect {
			return false, nil
		}
		w.cluster.remove(d.Node.UID)
		if kind != noFault {
			return false, nil
		}
	default:
		return false, fmt.Errorf("unknown decision %s", d.Kind)
	}
	return true, nil
}
