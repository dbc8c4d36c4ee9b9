package gpu

import (
	"maps"
	"math/big"
	"strconv"
	"strings"
)

// The keys of Traits.
const (
	traitModel     = "model"
	traitType      = "instance_type"
	traitSpot      = "spot"
	traitTold      = "told"
	traitMIG       = "mig"
	traitSlices    = "slices"
	traitMemory    = "memory"
	traitPartition = "partition"
	traitCards     = "cards"
	traitReplicas  = "replicas/"
	traitPart      = "part/"
)

// Traits returns what weights and places need of a node apart from its name, capacity and instance.
// It is kept for nodes that are deleted before their pods are observed.
func (n *Node) Traits() map[string]string {
	traits := map[string]string{}
	text := func(name, value string) {
		if value != "" {
			traits[name] = value
		}
	}
	number := func(name string, value int64) {
		if value != 0 {
			traits[name] = strconv.FormatInt(value, 10)
		}
	}
	text(traitModel, n.Model)
	text(traitType, n.InstanceType)
	if n.Spot {
		text(traitSpot, "true")
	}
	number(traitTold, int64(n.Told))
	d := n.devices()
	text(traitMIG, d.MIG)
	number(traitSlices, d.Slices)
	number(traitMemory, d.Memory)
	text(traitPartition, d.Partition)
	number(traitCards, d.Cards)
	for resource, replicas := range d.Replicas {
		number(traitReplicas+resource, int64(replicas))
	}
	for resource, part := range d.Parts {
		text(traitPart+resource, part.RatString())
	}
	return traits
}

// Recall restores a node from its Traits.
func (n *Node) Recall(traits map[string]string) {
	n.Shown = true
	n.Model, n.InstanceType, n.Spot = traits[traitModel], traits[traitType], traits[traitSpot] == "true"
	n.Told = int(number(traits[traitTold]))
	d := &Devices{
		MIG: traits[traitMIG], Slices: number(traits[traitSlices]), Memory: number(traits[traitMemory]),
		Partition: traits[traitPartition], Cards: number(traits[traitCards]),
	}
	for name, value := range traits {
		if resource, ok := strings.CutPrefix(name, traitReplicas); ok {
			d.share(resource, number(value))
		}
		if resource, ok := strings.CutPrefix(name, traitPart); ok {
			d.recallPart(resource, value)
		}
	}
	n.Devices = nil
	if !d.none() {
		n.Devices = d
	}
}

// recallPart restores a part; one that is above a device, or no number, is not believed.
func (d *Devices) recallPart(resource, text string) {
	part, ok := new(big.Rat).SetString(text)
	if !ok || part.Sign() <= 0 || part.Cmp(one) > 0 {
		return
	}
	if d.Parts == nil {
		d.Parts = map[string]*big.Rat{}
	}
	d.Parts[resource] = part
}

// Merge adds another observation of the same node: the largest of each capacity, and the labels of
// the observation that had more of them.
func (n *Node) Merge(o *Node) {
	n.Capacity = most(n.Capacity, o.Capacity)
	if o.Told > n.Told {
		n.Model, n.Told, n.Devices = o.Model, o.Told, o.Devices
	}
	if n.InstanceType == "" {
		n.InstanceType = o.InstanceType
	}
	if n.ProviderID == "" {
		n.ProviderID = o.ProviderID
	}
	n.Spot = n.Spot || o.Spot
}

// most returns the larger of each of two capacities. If one of the maps is enough, it returns that
// one.
func most(a, b map[string]*big.Rat) map[string]*big.Rat {
	var merged map[string]*big.Rat
	for name, units := range b {
		if known, there := a[name]; there && known.Cmp(units) >= 0 {
			continue
		}
		if merged == nil {
			if merged = maps.Clone(a); merged == nil {
				merged = map[string]*big.Rat{}
			}
		}
		merged[name] = units
	}
	if merged == nil {
		return a
	}
	return merged
}
