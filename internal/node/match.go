package node

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Instance is what of an instance tells its node.
type Instance struct {
	ID         string
	PrivateIP  string
	LaunchedAt time.Time
}

// Standing says what is known of an instance's node.
type Standing int

// What may be known. The zero value says nothing, and nothing follows from it.
const (
	Unseen    Standing = iota // the cluster was not seen
	Contested                 // whose node it is can't be told
	Absent                    // the cluster was seen, and the instance is none of its nodes
	Present
)

// Match is what is known of one instance's node.
type Match struct {
	Standing Standing
	Node     Node   // where Present
	Why      string // where Contested
}

// Idle reports whether nothing with GPUs runs there, in a look that counted pods: a
// machine that is no node has none.
func (m Match) Idle() bool {
	return m.Standing == Absent || m.Standing == Present && m.Node.GPUPods == 0
}

// Matches are the nodes of instances.
type Matches struct {
	seen bool
	of   map[string]Match
	// Remarks say which nodes are nobody's though they look like a pool's, for a person.
	Remarks []string
}

// Of is what is known of an instance's node.
func (m Matches) Of(instanceID string) Match {
	if match, ok := m.of[instanceID]; ok {
		return match
	}
	if m.seen {
		return Match{Standing: Absent}
	}
	return Match{}
}

// MatchNodes finds the nodes that instances are: by provider id, or where byAddress
// allows it and a node has no provider id, by the private address. A node that fits two
// instances, and two nodes that fit one, are nobody's; a node of another cloud is never
// asked for its address.
func MatchNodes(instances []Instance, l Look, byAddress bool) Matches {
	m := Matches{seen: l.Seen(), of: map[string]Match{}}
	if !m.seen {
		return m
	}
	known := make(map[string]bool, len(instances))
	addresses := map[string][]Instance{}
	for _, i := range instances {
		known[i.ID] = true
		if i.PrivateIP != "" {
			addresses[i.PrivateIP] = append(addresses[i.PrivateIP], i)
		}
	}
	fits := map[string][]Node{}
	var unnamed []Node
	for _, n := range l.Nodes {
		id := ParseProviderID(n.ProviderID)
		switch {
		case id.InstanceID != "":
			if known[id.InstanceID] {
				fits[id.InstanceID] = append(fits[id.InstanceID], n)
			}
		case id.Cloud == "":
			if byAddress {
				m.byAddress(n, addresses, fits)
			} else {
				unnamed = append(unnamed, n)
			}
		case m.looksLike(n, addresses):
			m.remark("node %s has one of the pool's addresses, and the provider id %q, which names no instance of Tencent Cloud: it is not the pool's", n.Name, n.ProviderID)
		}
	}
	for _, n := range unnamed {
		m.unnamed(n, addresses, fits)
	}
	for _, id := range slices.Sorted(maps.Keys(fits)) {
		nodes := fits[id]
		if len(nodes) == 1 {
			if _, contested := m.of[id]; !contested {
				m.of[id] = Match{Standing: Present, Node: nodes[0]}
			}
			continue
		}
		m.contest(id, "the nodes "+names(nodes)+" both say that they are "+id+": remove the one that is not")
	}
	slices.Sort(m.Remarks)
	m.Remarks = slices.Compact(m.Remarks)
	return m
}

// byAddress finds the instances that a node without a provider id may be.
func (m *Matches) byAddress(n Node, addresses map[string][]Instance, fits map[string][]Node) {
	var found []string
	for _, address := range n.Addresses {
		for _, i := range addresses[address] {
			// A node that was there before the instance is what is left of an earlier
			// instance at the same address.
			if !slices.Contains(found, i.ID) && !n.CreatedAt.Before(i.LaunchedAt) {
				found = append(found, i.ID)
			}
		}
	}
	slices.Sort(found)
	if len(found) == 1 {
		fits[found[0]] = append(fits[found[0]], n)
		return
	}
	for _, id := range found {
		m.contest(id, fmt.Sprintf("node %s has the addresses of %s: give it its provider id", n.Name, strings.Join(found, " and ")))
	}
}

// unnamed contests the instances that a node without a provider id may be, where no other
// node says that it is them: they may well be nodes with pods on them.
func (m *Matches) unnamed(n Node, addresses map[string][]Instance, fits map[string][]Node) {
	for _, address := range n.Addresses {
		for _, i := range addresses[address] {
			if len(fits[i.ID]) == 0 && !n.CreatedAt.Before(i.LaunchedAt) {
				m.contest(i.ID, fmt.Sprintf("node %s has the address of %s and no provider id: give it one (kubelet --provider-id), or set nodes.match_address", n.Name, i.ID))
			}
		}
	}
}

func (m *Matches) looksLike(n Node, addresses map[string][]Instance) bool {
	return slices.ContainsFunc(n.Addresses, func(a string) bool { return len(addresses[a]) > 0 })
}

func (m *Matches) contest(id, why string) {
	m.of[id] = Match{Standing: Contested, Why: why}
	m.remark("%s", why)
}

func (m *Matches) remark(format string, args ...any) {
	m.Remarks = append(m.Remarks, fmt.Sprintf(format, args...))
}

func names(nodes []Node) string {
	sorted := slices.SortedFunc(slices.Values(nodes), func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	list := make([]string, len(sorted))
	for n, node := range sorted {
		list[n] = node.Name
	}
	return strings.Join(list, " and ")
}
