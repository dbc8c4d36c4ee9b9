package accounting

import (
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// recordedNodes are the nodes that earlier runs saw: who observes knows by them what
// those have that are gone, or don't show it just now.
func recordedNodes(l *ledger.Ledger) []gpu.Node {
	var nodes []gpu.Node
	for n := range l.Nodes() {
		nodes = append(nodes, nodeOf(n))
	}
	return nodes
}

func nodeOf(n ledger.Node) gpu.Node {
	node := gpu.Node{UID: n.UID, Name: n.Name, ProviderID: n.Machine, Created: n.Created, Gone: n.Gone != 0}
	if len(n.Capacity) > 0 {
		node.Capacity = make(map[string]*big.Rat, len(n.Capacity))
	}
	for _, quantity := range n.Capacity {
		if units, ok := new(big.Rat).SetString(quantity.Value); ok {
			node.Capacity[quantity.Key] = units
		}
	}
	traits := make(map[string]string, len(n.Traits))
	for _, trait := range n.Traits {
		traits[trait.Key] = trait.Value
	}
	node.Recall(traits)
	return node
}

// recordNodes has the ledger record what the observation and its replay show of nodes,
// and which of those that it has are gone.
func (b *Books) recordNodes() {
	there := make(map[string]bool, len(b.Observation.Nodes))
	for i := range b.Observation.Nodes {
		there[b.Observation.Nodes[i].UID] = true
		b.recordNode(&b.Observation.Nodes[i], 0)
	}
	for i := range b.Observation.Replay.Nodes {
		if n := &b.Observation.Replay.Nodes[i]; !there[n.UID] {
			b.recordNode(n, b.recorder.at)
		}
	}
	for n := range b.documents.ledger.Nodes() {
		if n.Gone == 0 && !there[n.UID] {
			n.Gone = b.recorder.at
			b.keepNode(n)
		}
	}
}

func (b *Books) recordNode(n *gpu.Node, gone ledger.Time) {
	if n.UID == "" {
		return
	}
	kept := ledger.Node{
		UID: n.UID, Name: n.Name, Machine: n.ProviderID, Created: n.Created, Gone: gone,
		Told: n.Told, ToldAt: b.recorder.at, Traits: ledger.LabelsOf(n.Traits()), Capacity: capacityOf(n),
	}
	if known, there := b.documents.ledger.Node(n.UID); there && known.Told == kept.Told && slices.Equal(known.Traits, kept.Traits) {
		kept.ToldAt = known.ToldAt // it tells nothing new
	}
	b.keepNode(kept)
}

func (b *Books) keepNode(n ledger.Node) {
	if err := b.documents.ledger.Remember(n); err != nil {
		b.doubts.add("", reason.RecordError(reason.Failure(err)))
	}
}

func capacityOf(n *gpu.Node) ledger.Labels {
	texts := make(map[string]string, len(n.Capacity))
	for resource, units := range n.Capacity {
		texts[resource] = units.RatString()
	}
	return ledger.LabelsOf(texts)
}

// nodeChanges returns the nodes, by name, that show more GPUs than in the ledger, and those that it lacks. Their
// pods may hold more than was recorded.
func nodeChanges(l *ledger.Ledger, nodes []gpu.Node) (more, unknown map[string]bool) {
	more, unknown = map[string]bool{}, map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		known, there := l.Node(n.UID)
		switch {
		case !there:
			unknown[n.Name] = true
		case n.Told > known.Told || exceeds(n.Capacity, nodeOf(known).Capacity):
			more[n.Name] = true
		}
	}
	return more, unknown
}

// exceeds reports whether a capacity is of something more than another.
func exceeds(a, b map[string]*big.Rat) bool {
	for resource, units := range a {
		if known, there := b[resource]; !there || units.Cmp(known) > 0 {
			return true
		}
	}
	return false
}
