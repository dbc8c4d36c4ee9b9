package gpu

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// nodeOf returns the pod's node. If several had its name, it is the last that existed when the pod
// started. If a node was registered again while the pod ran, it keeps its pods.
func (v interval) nodeOf(w World, start ledger.Start) Node {
	name := v.pod.Spec.NodeName
	switch {
	case name == "":
		return Node{}
	case w.Nodes == nil:
		return Node{Name: name}
	}
	found := w.Nodes(name)
	if len(found) == 0 {
		return Node{Name: name, Gone: true}
	}
	if len(found) > 1 {
		found = slices.SortedFunc(slices.Values(found), func(a, b Node) int { return cmp.Compare(a.Created, b.Created) })
	}
	node, before := found[0], false
	for _, n := range found {
		if start.At == 0 || n.Created <= start.At+clockSkew {
			node, before = n, true
		}
	}
	node.Shown = true
	if !before && v.endedBefore(start, node.Created) {
		node = Node{Name: name} // the pod's own node was an earlier, unknown one
	}
	node.Gone = true
	for _, n := range found {
		if !n.Gone {
			node.Gone, node.NotReady = false, n.NotReady
		}
	}
	return node
}

// endedBefore reports whether the pod's known end was before a time.
func (v interval) endedBefore(start ledger.Start, at ledger.Time) bool {
	if !v.terminal() {
		return false
	}
	end := v.terminated(start)
	return end.Source != ledger.SeenTerminal && end.At < at
}

// shown returns how well the node confirms what the pod holds.
func (y *tally) shown(now ledger.Time) int {
	switch {
	case y.node.Name == "" || !y.node.Shown || y.unsure:
		return ledger.Unconfirmed
	case y.node.Devices == nil && now < y.node.LabelsDue():
		return ledger.Provisional
	case y.unread:
		return ledger.Confirmed
	}
	return ledger.Confirmed + y.node.Told
}

// within returns what counts of a request for one resource: at most the known capacity of its node.
// If the pod is not bound, or its node is unknown, the request counts in full.
func (y *tally) within(name string, h amount, held amounts) amount {
	switch {
	case y.node.Name == "" || !y.node.Shown:
		return h
	case name == fractionAnnotation:
		return y.capToNode(name, nvidiaGPU, h)
	case !strings.Contains(name, "/") || y.allotted[name]:
		return h
	case isCardPart(name):
		return y.capToCards(name, h, held)
	}
	return y.cards(name, y.capToNode(name, name, h))
}

// capToNode limits an amount to the node's capacity of a resource.
func (y *tally) capToNode(name, of string, h amount) amount {
	capacity, listed := y.node.Capacity[of]
	switch {
	case h.units.Sign() <= 0:
		return h
	case !listed:
		y.capped = true
		y.doubts.add(reason.ResourceNotThere(amountOf(h.units), reason.NewValue(of), y.at()))
		return amount{new(big.Rat), new(big.Rat)}
	case capacity.Sign() <= 0:
		y.unsure = true
		y.doubts.add(reason.CapacityNeverShown(amountOf(h.units), reason.NewValue(name), y.at()))
		return h
	case h.units.Cmp(capacity) > 0:
		y.capped = true
		y.doubts.add(reason.AboveNodeCapacity(amountOf(h.units), reason.NewValue(name), y.at(), amountOf(capacity)))
		return amount{capacity, new(big.Rat).Mul(h.gpus, new(big.Rat).Quo(capacity, h.units))}
	}
	return h
}

// plausible makes what the pod holds an estimate if it is more than any node has. A node reports its
// own capacity, and a compromised one reports anything.
func (y *tally) plausible(shares []ledger.Share) {
	total := new(big.Rat)
	for i := range shares {
		if _, own := y.table.own[shares[i].Resource]; !own {
			total.Add(total, new(big.Rat).Mul(shares[i].Units, shares[i].Weight))
		}
	}
	if y.node.Name == "" || total.Cmp(big.NewRat(mostOnNode, 1)) <= 0 {
		return
	}
	y.unsure = true
	y.doubts.add(reason.AboveAnyNode(amountOf(total), y.at(), mostOnNode))
}

// capToCards limits parts of cards, which no node lists, to those of as many cards as the pod may
// hold.
func (y *tally) capToCards(name string, h amount, held amounts) amount {
	most := new(big.Rat)
	for _, f := range vgpuFamilies {
		cards, asked := held[f.count]
		if !asked || name != f.cores && name != f.memory && name != f.memoryPercent {
			continue
		}
		each := int64(100) // percent of a card
		if name == f.memory {
			if each = y.node.devices().Memory; each == 0 {
				y.unsure = true
				return h
			}
		}
		most.Mul(y.capToNode(f.count, f.count, cards).units, new(big.Rat).SetInt64(each))
	}
	if h.units.Cmp(most) <= 0 {
		return h
	}
	y.capped = true
	y.doubts.add(reason.AbovePodCards(amountOf(h.units), reason.NewValue(name), amountOf(most)))
	return amount{most, new(big.Rat).Mul(h.gpus, new(big.Rat).Quo(most, h.units))}
}

// cards limits an amount that is worth more than all cards of the node. Nodes list more parts than
// cards.
func (y *tally) cards(name string, h amount) amount {
	most := new(big.Rat)
	switch _, own := y.table.own[name]; {
	case own:
	case name == nvidiaGPU, name == volcanoVGPU:
		most.SetInt64(y.node.devices().Cards)
	case name == qgpuCore, name == qgpuMemory:
		if parts := y.node.Capacity[qgpuCore]; parts != nil {
			most.Mul(parts, hundredth)
		}
	}
	if most.Sign() <= 0 || h.gpus.Cmp(most) <= 0 {
		return h
	}
	y.capped = true
	y.doubts.add(reason.AboveNodeCards(amountOf(h.units), reason.NewValue(name), amountOf(most), y.at()))
	return amount{h.units, most}
}
