package gpu

import (
	"maps"
	"math/big"
	"strconv"
	"strings"
)

// The names of what Traits keeps.
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
)

// Traits is what weights and places need of a node beside its name, its capacity
// and its machine, as texts: what is remembered of one that may be gone when its
// pods are looked at.
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
	return traits
}

// Recall gives a node what Traits said of it.
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
	}
	n.Devices = nil
	if !d.none() {
		n.Devices = d
	}
}

// Merge adds to a node what an earlier or later look at the same one knows: of each
// capacity the most, and of labels those of the look that had more of them.
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

// most is the larger of each of two capacities: one of them, where that is enough.
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
