package ledger

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// Node is a node that the ledger remembers. It can then count pods after the node is gone or while
// it does not report its capacity. The caller defines the form of its traits and capacity.
type Node struct {
	UID     string `json:"uid"`
	Name    string `json:"name"`
	Machine string `json:"machine,omitempty"` // the instance ID
	Created Time   `json:"created_ms"`
	// Gone is when the node was first missing; zero while it exists.
	Gone Time `json:"gone_ms,omitempty"`
	// Traits are the node's labels at the time it reported most; Told is how much it reported, and
	// ToldAt when it first did.
	Traits Labels `json:"traits,omitempty"`
	Told   int    `json:"told"`
	ToldAt Time   `json:"told_at_ms"`
	// Capacity is the most that the node ever reported of each resource, as exact rationals.
	Capacity Labels `json:"capacity,omitempty"`
}

func (n *Node) problem() string {
	switch {
	case n.UID == "" || len(n.UID) > maxText || n.Name == "" || len(n.Name) > maxText || len(n.Machine) > maxMachine:
		return "its UID or name is missing or too long"
	case n.Told < 0 || n.Told > mostShown:
		return "the number of reported traits is out of range"
	}
	for _, at := range [...]Time{n.Created, n.Gone, n.ToldAt} {
		if at < 0 || at > lastMoment {
			return "a time is not between 1970 and 9999 (UTC)"
		}
	}
	for _, c := range n.Capacity {
		if rational(c.Value) == nil {
			return "invalid capacity"
		}
	}
	return ""
}

func (n *Node) validate() error {
	if problem := n.problem(); problem != "" {
		return fmt.Errorf("invalid ledger entry of the node %.80q (UID %.60q): %s", n.Name, n.UID, problem)
	}
	return nil
}

// maxMachine limits the length of an instance ID.
const maxMachine = 1 << 10

type nodes struct{ table[Node] }

func newNodes(l *Ledger) nodes {
	return nodes{table[Node]{
		kind: document.Nodes, of: map[string]Node{}, uid: func(n Node) string { return n.UID },
		problem: func(n Node) error { return n.validate() }, take: l.Remember,
		called: "nodes", lost: "pods on deleted nodes count as estimates",
	}}
}

// Remember merges a node. Merging again changes nothing, and the order makes no difference. A node
// that was gone before Header.KeptSince is ignored.
func (l *Ledger) Remember(n Node) error {
	if err := n.validate(); err != nil {
		return err
	}
	old, known := l.nodes.of[n.UID]
	if known {
		n = joinNodes(old, n)
	}
	if l.Header.isDropped(&n) {
		l.nodes.forget(n.UID)
		return nil
	}
	n.Traits, n.Capacity = l.shared.list(n.Traits), l.shared.list(n.Capacity)
	if known && n.equal(&old) {
		return nil
	}
	l.nodes.put(n)
	return nil
}

// Nodes yields the nodes, by name and then by UID.
func (t *nodes) Nodes() iter.Seq[Node] {
	return slices.Values(slices.SortedFunc(maps.Values(t.of), func(a, b Node) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	}))
}

// Node returns a node by its UID.
func (t *nodes) Node(uid string) (Node, bool) {
	n, known := t.of[uid]
	return n, known
}

func (t *nodes) prune(h Header) {
	for uid, n := range t.of {
		if h.isDropped(&n) {
			t.forget(uid)
		}
	}
}

func (n *Node) equal(o *Node) bool {
	return n.UID == o.UID && n.Name == o.Name && n.Machine == o.Machine && n.Created == o.Created && n.Gone == o.Gone &&
		n.Told == o.Told && n.ToldAt == o.ToldAt && compareLabels(n.Traits, o.Traits) == 0 && compareLabels(n.Capacity, o.Capacity) == 0
}

// joinNodes returns the better part of two observations of one node, by a total order. Of a changed
// label the latest value wins.
func joinNodes(a, b Node) Node {
	joined := a
	joined.Name, joined.Machine = max(a.Name, b.Name), max(a.Machine, b.Machine)
	joined.Created, joined.Gone = earlier(a.Created, b.Created), earlier(a.Gone, b.Gone)
	if cmp.Or(cmp.Compare(a.Told, b.Told), cmp.Compare(a.ToldAt, b.ToldAt), compareLabels(b.Traits, a.Traits)) < 0 {
		joined.Told, joined.ToldAt, joined.Traits = b.Told, b.ToldAt, b.Traits
	}
	joined.Capacity = largest(a.Capacity, b.Capacity)
	return joined
}

// earlier returns the earlier of two times, either of which may be unset.
func earlier(a, b Time) Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func largest(a, b Labels) Labels {
	if compareLabels(a, b) == 0 {
		return a
	}
	most := map[string]*big.Rat{}
	for _, quantity := range slices.Concat(a, b) {
		value := rational(quantity.Value)
		if known := most[quantity.Key]; value != nil && (known == nil || known.Cmp(value) < 0) {
			most[quantity.Key] = value
		}
	}
	texts := make(map[string]string, len(most))
	for resource, value := range most {
		texts[resource] = value.RatString()
	}
	return LabelsOf(texts)
}
