package decide_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// oddities are unwelcome properties of a cluster. Host names are reused, provider IDs name no
// instance, other pools have the same addresses, clocks are off, readiness flaps, and notices
// never expire.
type oddities struct {
	reuses      bool                 // a new machine gets the address and host name of one that is gone
	providerID  string               // what new nodes write before their instance's ID; empty: the right one
	skew        time.Duration        // by how much the clocks of nodes are off
	flaps       map[string]bool      // machines whose nodes are Ready every other minute
	renews      map[string]bool      // machines whose nodes renew their notice for ever
	strangers   []node.Node          // of other pools
	registered  int                  // Nodes so far
	addresses   int                  // given out so far
	interrupted map[string]time.Time // since when machines have been counted as interrupted
}

func newOddities() oddities {
	return oddities{flaps: map[string]bool{}, renews: map[string]bool{}, interrupted: map[string]time.Time{}}
}

// reuse says whether host names are used again: by machines that join at once, before the
// Nodes of those that are gone are deleted.
func (c *cluster) reuse(reuses bool) {
	if c.reuses, c.joinsAfter = reuses, 2*time.Minute; reuses {
		c.joinsAfter = 0
	}
}

// address is that of a new machine: where host names are used again, one that belongs to
// the Node of a machine that is gone.
func (c *cluster) address(there map[string]bool) string {
	if c.reuses {
		for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
			if !there[id] {
				return c.nodes[id].Addresses[0]
			}
		}
	}
	c.addresses++
	return fmt.Sprintf("10.0.%d.%d", c.addresses/250, c.addresses%250)
}

// join registers a machine's node, as a kubelet does. A Node of its host name, which follows
// from the address here, becomes its own, with its UID and provider ID.
func (c *cluster) join(w *world, m *machine, there map[string]bool) {
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		if n := c.nodes[id]; !there[id] && n.Addresses[0] == m.PrivateIP {
			delete(c.nodes, id)
			c.nodes[m.ID], c.pods[m.ID] = n, 2
			c.turns(n, node.ReadyTrue, w.now)
			return
		}
	}
	prefix := "qcloud:///1/"
	if c.providerID != "" {
		prefix = c.providerID
	}
	c.nodes[m.ID] = c.register(w, m, prefix+m.ID)
	c.nodes[m.ID].Pool = w.d.UID
	c.pods[m.ID] = 2
}

// register is a new Node of a machine.
func (c *cluster) register(w *world, m *machine, providerID string) *node.Node {
	c.registered++
	return &node.Node{
		Name: "node-" + m.ID, UID: fmt.Sprintf("u-%d-%s", c.registered, m.ID), ProviderID: providerID, Addresses: []string{m.PrivateIP},
		CreatedAt: w.now, Ready: node.ReadyTrue, ReadySince: w.now.Add(c.skew),
	}
}

// turns has a node be Ready or not, by its own clock.
func (c *cluster) turns(n *node.Node, ready node.Readiness, now time.Time) {
	if n.Ready != ready {
		n.Ready, n.ReadySince = ready, now.Add(c.skew)
	}
}

func (c *cluster) byUID(uid string) (id string, n *node.Node) {
	for id, n := range c.nodes {
		if n.UID == uid {
			return id, n
		}
	}
	return "", nil
}

// remove deletes a Node, and its pods. Its kubelet does not register again.
func (c *cluster) remove(uid string) {
	if id, n := c.byUID(uid); n != nil {
		delete(c.nodes, id)
		c.never[id], c.pods[id] = true, 0
	}
}

// mark marks nodes as the pool's.
func (c *cluster) mark(list []node.Node, poolUID string) {
	for _, n := range list {
		if _, live := c.byUID(n.UID); live != nil && live.Pool == "" {
			live.Pool = poolUID
		}
	}
}

// itself reports whether a machine's node says which machine it is.
func (c *cluster) itself(id string) bool {
	return node.ParseProviderID(c.nodes[id].ProviderID).InstanceID == id
}

// forbids says what is wrong with a decision about a node, whatever was seen of it.
func (c *cluster) forbids(w *world, d spotpool.Decision) error {
	id, n := c.byUID(d.Node.UID)
	switch {
	case d.Node.Pool != "" && d.Node.Pool != w.d.UID:
		return fmt.Errorf("%s, which is another pool's", d.Summary())
	case n == nil:
		return nil
	case d.Kind == spotpool.KindDeleteNode && n.Ready == node.ReadyTrue:
		return fmt.Errorf("%s, which is Ready and used by %s", d.Summary(), id)
	case d.Kind == spotpool.KindDrain && (id != d.InstanceIDs[0] || !c.itself(id)):
		return fmt.Errorf("%s, which is contested: %+v of %s", d.Summary(), n, id)
	}
	return nil
}

// emptied are the machines whose nodes are as their drains left them, as a run checks right
// before it terminates them. The drains of the others start again.
func (w *world) emptied(ids []string) []string {
	if w.cluster == nil {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		n, drain := w.cluster.nodes[id], w.journal.DrainOf(id)
		if n == nil || drain.Phase != node.Done || drain.UID == n.UID && w.cluster.pods[id] == 0 {
			return false
		}
		w.journal = w.journal.RestartDrain(id, node.Progress{Observed: true, Left: w.cluster.pods[id]}, w.now)
		return true
	})
}

// endlessNotice says which machine counts as reclaimed for longer than a notice lasts. An
// observation is lost if its run is killed before it writes anything.
func (c *cluster) endlessNotice(s decide.Situation, p decide.Plan, lost bool) string {
	if lost {
		return ""
	}
	for _, m := range p.Members {
		since, before := c.interrupted[m.ID]
		switch {
		case !m.Interrupted():
			delete(c.interrupted, m.ID)
		case !before:
			c.interrupted[m.ID] = s.Now
		case s.Now.Sub(since) >= node.NoticeAhead+node.NoticeSlack:
			return fmt.Sprintf("%s is counted as interrupted since %s", m.ID, since)
		}
	}
	return ""
}

// oddEvent draws something odd that happens to the cluster, and says what.
func (w *world) oddEvent(t *rapid.T, own []string) string {
	c := w.cluster
	what := rapid.IntRange(0, 7).Draw(t, "odd event")
	switch {
	case what == 0:
		c.reuse(!c.reuses)
		return fmt.Sprintf("host names are used again: %t", c.reuses)
	case what == 1:
		c.providerID = rapid.SampledFrom([]string{"", "k3s://", "qcloud://zone/"}).Draw(t, "provider id")
		return fmt.Sprintf("nodes call themselves %q", c.providerID)
	case what == 2:
		c.skew = rapid.SampledFrom([]time.Duration{0, -20 * time.Minute, 20 * time.Minute}).Draw(t, "skew")
		return fmt.Sprintf("the clocks of nodes are off by %s", c.skew)
	case len(own) == 0:
		return "nothing"
	}
	id := rapid.SampledFrom(own).Draw(t, "machine")
	at := slices.IndexFunc(w.machines, func(m *machine) bool { return m.ID == id })
	n, m := c.nodes[id], w.machines[at]
	switch what {
	case 3:
		c.flaps[id] = !c.flaps[id]
		return fmt.Sprintf("the node of %s flaps: %t", id, c.flaps[id])
	case 4:
		c.renews[id] = !c.renews[id]
		return fmt.Sprintf("the node of %s renews a notice: %t", id, c.renews[id])
	case 5:
		if m.PrivateIP != "" {
			c.strangers = append(c.strangers, node.Node{
				Name: "stranger-" + id, UID: fmt.Sprintf("stranger-%d", len(c.strangers)), ProviderID: "qcloud:///1/ins-stranger",
				Addresses: []string{m.PrivateIP},
				CreatedAt: w.now, Ready: node.ReadyTrue, ReadySince: w.now, Pool: "another",
			})
			return "another pool has a node at the address of " + id
		}
	case 6:
		if n != nil && m.State == spotpool.StateRunning && c.itself(id) {
			again := c.register(w, m, n.ProviderID)
			again.Cordoned = rapid.Bool().Draw(t, "cordoned")
			c.nodes[id], c.pods[id] = again, 1
			return fmt.Sprintf("the Node of %s is made again, cordoned: %t", id, again.Cordoned)
		}
	case 7:
		if n != nil && n.Cordoned && m.State == spotpool.StateRunning {
			c.pods[id]++
			return "a pod is bound to the cordoned node of " + id
		}
	}
	return "nothing"
}

// calmOddities has a person set right what is odd: whatever is called wrongly registers
// again.
func (c *cluster) calmOddities(w *world) {
	there := map[string]*machine{}
	for _, m := range w.machines {
		there[m.ID] = m
	}
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		n := c.nodes[id]
		if c.renews[id] {
			n.TakenAt = time.Time{}
		}
		switch m := there[id]; {
		case c.itself(id):
		case m == nil || m.State != spotpool.StateRunning:
			delete(c.nodes, id)
		default:
			c.nodes[id] = c.register(w, m, "qcloud:///1/"+id)
		}
	}
	c.reuse(false)
	c.providerID, c.skew, c.strangers = "", 0, nil
	for _, m := range w.machines {
		if c.nodes[m.ID] == nil && m.launched {
			m.PrivateIP = c.address(nil)
		}
	}
	clear(c.flaps)
	clear(c.renews)
}
