package node

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Instance has the fields of an instance that identify its node.
type Instance struct {
	ID         string    `json:"instance_id"`
	PrivateIP  string    `json:"private_ip,omitempty"`
	LaunchedAt time.Time `json:"launched_at,omitzero"`
}

// Standing says what is known of an instance's node.
type Standing int

// The results of a match. The zero value is unknown, and has no consequences.
const (
	Unseen    Standing = iota // the cluster was not seen
	Contested                 // whose node it is can't be told
	Absent                    // the cluster was seen, and the instance is none of its nodes
	Present
)

// Match is the result for one instance.
type Match struct {
	Standing Standing
	Node     Node          // where Present
	Why      reason.Reason // where Contested
}

// Idle reports whether nothing with GPUs runs there, if the pods were counted: an
// instance that is no node has none.
func (m Match) Idle() bool {
	return m.Standing == Absent || m.Standing == Present && m.Node.GPUPods == 0
}

// Matches are the nodes of instances.
type Matches struct {
	seen bool
	of   map[string]Match
	// contesting are the UIDs of nodes that leave in doubt which node an instance is.
	contesting map[string]bool
	// Remarks name nodes that look like a pool's and are not.
	Remarks reason.Reasons
}

// Of returns the match of an instance.
func (m Matches) Of(instanceID string) Match {
	if match, ok := m.of[instanceID]; ok {
		return match
	}
	if m.seen {
		return Match{Standing: Absent}
	}
	return Match{}
}

// Contests reports whether a node leaves in doubt which node an instance is.
func (m Matches) Contests(n Node) bool { return m.contesting[n.UID] }

// MatchNodes finds the nodes that instances are, by provider ID. With byAddress, a node without a provider ID
// matches by its private address. A node that fits two instances, and two nodes that fit one, match nothing.
//
// A node with the address of an instance and another provider ID may still be that instance. The reason is
// that a kubelet that finds a Node of its host name registers as that Node. But a node with the provider ID
// and the address of one instance is no other. Its kubelet may report any addresses, and must not prevent the
// judgment of others.
func MatchNodes(instances []Instance, o Observation, byAddress bool) Matches {
	m := Matches{seen: o.Observed(), of: map[string]Match{}, contesting: map[string]bool{}}
	if !m.seen {
		return m
	}
	known := make(map[string]bool, len(instances))
	addresses := map[string][]Instance{}
	own := map[string]string{} // the addresses of instances in Tencent Cloud, by ID
	for _, i := range o.Elsewhere {
		own[i.ID] = i.PrivateIP
	}
	for _, i := range instances {
		known[i.ID], own[i.ID] = true, i.PrivateIP
		if i.PrivateIP != "" {
			addresses[i.PrivateIP] = append(addresses[i.PrivateIP], i)
		}
	}
	fits := map[string][]Node{}
	for _, n := range o.Nodes {
		id := ParseProviderID(n.ProviderID)
		switch {
		case known[id.InstanceID]:
			fits[id.InstanceID] = append(fits[id.InstanceID], n)
		case id.Cloud == "" && byAddress:
			m.byAddress(n, addresses, fits)
		}
	}
	for _, n := range o.Nodes {
		if address := own[ParseProviderID(n.ProviderID).InstanceID]; address != "" && slices.Contains(n.Addresses, address) {
			m.surplus(n, addresses)
			continue
		}
		m.doubted(n, addresses, fits)
	}
	for _, id := range slices.Sorted(maps.Keys(fits)) {
		nodes := fits[id]
		if len(nodes) == 1 {
			if _, contested := m.of[id]; !contested {
				m.of[id] = Match{Standing: Present, Node: nodes[0]}
			}
			continue
		}
		m.contest(id, reason.NodesClaimOne(names(nodes), reason.Word(id)), nodes...)
	}
	slices.SortFunc(m.Remarks, func(a, b reason.Reason) int { return strings.Compare(a.String(), b.String()) })
	m.Remarks = slices.CompactFunc(m.Remarks, reason.Reason.Same)
	return m
}

// byAddress finds the instances that a node without a provider ID may be.
func (m *Matches) byAddress(n Node, addresses map[string][]Instance, fits map[string][]Node) {
	var found []string
	for _, i := range n.at(addresses) {
		// A node that was there before the instance is what is left of an earlier
		// instance at the same address.
		if !n.CreatedAt.Before(i.LaunchedAt) {
			found = append(found, i.ID)
		}
	}
	slices.Sort(found)
	if len(found) == 1 {
		fits[found[0]] = append(fits[found[0]], n)
		return
	}
	for _, id := range found {
		m.contest(id, reason.NodeOfSeveral(reason.Node(n.Name), reason.Word(strings.Join(found, " and "))), n)
	}
}

// surplus remarks that a node which is certainly one instance has addresses of others.
func (m *Matches) surplus(n Node, addresses map[string][]Instance) {
	is := ParseProviderID(n.ProviderID).InstanceID
	var others []string
	for _, i := range n.at(addresses) {
		if i.ID != is {
			others = append(others, i.ID)
		}
	}
	if slices.Sort(others); len(others) > 0 {
		m.Remarks = append(m.Remarks, reason.NodeClaimsMore(reason.Node(n.Name), reason.Word(is), others))
	}
}

// Claimed returns the IDs of other instances that nodes claim to be, if that leaves one of these in doubt.
// Tencent Cloud knows their addresses.
func (o Observation) Claimed(instances []Instance, byAddress bool) (ids []string) {
	m := MatchNodes(instances, o, byAddress)
	for _, n := range o.Nodes {
		id := ParseProviderID(n.ProviderID).InstanceID
		if id != "" && m.Contests(n) && !slices.ContainsFunc(instances, func(i Instance) bool { return i.ID == id }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// doubted contests the instances at a node's addresses that have no node of their own:
// they may well be this one, with pods on it.
func (m *Matches) doubted(n Node, addresses map[string][]Instance, fits map[string][]Node) {
	id := ParseProviderID(n.ProviderID)
	for _, i := range n.at(addresses) {
		_, contested := m.of[i.ID]
		switch {
		case id.InstanceID == i.ID, contested && m.Contests(n):
		case len(fits[i.ID]) == 0:
			m.contest(i.ID, n.doubt(id, i), n)
		case id.Cloud != "" && id.InstanceID == "":
			m.Remarks = append(m.Remarks, reason.NodeForeign(reason.Node(n.Name), reason.NewForeign(n.ProviderID)))
		}
	}
}

// doubt returns why an instance at a node's address may be that node, and how to end the
// doubt. The API server rejects any change of a provider ID that is set.
func (n Node) doubt(id ProviderID, i Instance) reason.Reason {
	is, instance := reason.Node(n.Name), reason.Word(i.ID)
	switch {
	case id.InstanceID != "":
		return reason.NodeClaimed(is, instance, reason.Word(id.InstanceID))
	case id.Cloud != "":
		return reason.NodeElsewhere(is, instance, reason.NewForeign(n.ProviderID), Cloud)
	case n.CreatedAt.Before(i.LaunchedAt):
		return reason.NodeOlder(is, instance)
	}
	return reason.NodeUnnamed(is, instance)
}

// at are the instances that have one of a node's addresses, each once.
func (n Node) at(addresses map[string][]Instance) []Instance {
	var found []Instance
	for _, address := range n.Addresses {
		for _, i := range addresses[address] {
			if !slices.ContainsFunc(found, func(other Instance) bool { return other.ID == i.ID }) {
				found = append(found, i)
			}
		}
	}
	return found
}

func (m *Matches) contest(id string, why reason.Reason, by ...Node) {
	for _, n := range by {
		m.contesting[n.UID] = true
	}
	m.of[id] = Match{Standing: Contested, Why: why}
	m.Remarks = append(m.Remarks, why)
}

func names(nodes []Node) reason.Word {
	sorted := slices.SortedFunc(slices.Values(nodes), func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	list := make([]string, len(sorted))
	for n, node := range sorted {
		list[n] = node.Name
	}
	return reason.Word(strings.Join(list, " and "))
}
