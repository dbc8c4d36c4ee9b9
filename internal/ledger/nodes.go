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

// Node is what is remembered of a node, so that pods can be counted that are looked
// at when it is gone, or when it does not show what it has. What it has and tells
// is in the words of who remembers it.
type Node struct {
	UID     string `json:"uid"`
	Name    string `json:"name"`
	Machine string `json:"machine,omitempty"` // as the cloud calls it
	Created Time   `json:"created_ms"`
	// Gone is when it was first missed; zero while it is there.
	Gone Time `json:"gone_ms,omitempty"`
	// Traits are what it told of itself, where it told most; Told is how much that
	// was, and ToldAt when it was first seen to tell that.
	Traits Labels `json:"traits,omitempty"`
	Told   int    `json:"told"`
	ToldAt Time   `json:"told_at_ms"`
	// Capacity is the most that was seen of each resource, as exact rationals.
	Capacity Labels `json:"capacity,omitempty"`
}

func (n *Node) problem() string {
	switch {
	case n.UID == "" || len(n.UID) > maxText || n.Name == "" || len(n.Name) > maxText || len(n.Machine) > maxMachine:
		return "its UID or its name is missing, or too long"
	case n.Told < 0 || n.Told > mostShown:
		return "how much it told is no sensible number"
	}
	for _, at := range [...]Time{n.Created, n.Gone, n.ToldAt} {
		if at < 0 || at > lastMoment {
			return "one of its times is not between 1970 and 9999"
		}
	}
	for _, c := range n.Capacity {
		if rational(c.Value) == nil {
			return "one of its capacities is no number"
		}
	}
	return ""
}

func (n *Node) refused() error {
	if problem := n.problem(); problem != "" {
		return fmt.Errorf("the ledger takes up no node %.80q (UID %.60q): %s", n.Name, n.UID, problem)
	}
	return nil
}

// maxMachine is how long a cloud's name of a machine may be.
const maxMachine = 1 << 10

// nodes are those that a ledger remembers, by UID.
type nodes struct{ table[Node] }

func newNodes(l *Ledger) nodes {
	return nodes{table[Node]{
		kind: document.Nodes, of: map[string]Node{}, uid: func(n Node) string { return n.UID },
		problem: func(n Node) error { return n.refused() }, take: l.Remember,
		called: "nodes", lost: "pods on nodes that are gone are counted as estimates",
	}}
}

// Remember adds what is known of a node to what the ledger remembers of it. Again
// changes nothing, and the order makes no difference. A node that was gone before
// Header.KeptSince is not taken up.
func (l *Ledger) Remember(n Node) error {
	if err := n.refused(); err != nil {
		return err
	}
	old, known := l.nodes.of[n.UID]
	if known {
		n = joinNodes(old, n)
	}
	if l.Header.forgotten(&n) {
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

// Nodes yields the nodes that are remembered, by name and then by UID.
func (t *nodes) Nodes() iter.Seq[Node] {
	return slices.Values(slices.SortedFunc(maps.Values(t.of), func(a, b Node) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	}))
}

// Node returns what is remembered of a node.
func (t *nodes) Node(uid string) (Node, bool) {
	n, known := t.of[uid]
	return n, known
}

func (t *nodes) prune(h Header) {
	for uid, n := range t.of {
		if h.forgotten(&n) {
			t.forget(uid)
		}
	}
}

func (n *Node) equal(o *Node) bool {
	return n.UID == o.UID && n.Name == o.Name && n.Machine == o.Machine && n.Created == o.Created && n.Gone == o.Gone &&
		n.Told == o.Told && n.ToldAt == o.ToldAt && compareLabels(n.Traits, o.Traits) == 0 && compareLabels(n.Capacity, o.Capacity) == 0
}

// joinNodes is what two looks at one node know together: of each part the better,
// by a total order. A label that changed is worth what it says now.
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

// earlier is the earlier of two times that may be none.
func earlier(a, b Time) Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// largest is of each resource the larger quantity.
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
