package node

import (
	"slices"
	"time"
)

// Index finds the nodes that concern a pool in an observation of all of a cluster's.
type Index struct {
	observation Observation // without nodes
	nodes       []Node
	byInstance  map[string][]int
	byAddress   map[string][]int
	byPool      map[string][]int // by the uid of the pool that marked or cordoned it
}

// NewIndex is the index of an observation.
func NewIndex(o Observation) *Index {
	x := &Index{
		observation: Observation{ClusterUID: o.ClusterUID, At: o.At, Pods: o.Pods}, nodes: o.Nodes,
		byInstance: map[string][]int{}, byAddress: map[string][]int{},
		byPool: map[string][]int{},
	}
	for at, n := range o.Nodes {
		if id := ParseProviderID(n.ProviderID).InstanceID; id != "" {
			x.byInstance[id] = append(x.byInstance[id], at)
		}
		for _, address := range n.Addresses {
			x.byAddress[address] = append(x.byAddress[address], at)
		}
		if n.Pool != "" {
			x.byPool[n.Pool] = append(x.byPool[n.Pool], at)
		}
		if n.CordonedBy != "" && n.CordonedBy != n.Pool {
			x.byPool[n.CordonedBy] = append(x.byPool[n.CordonedBy], at)
		}
	}
	return x
}

// Of returns the observation of a pool's nodes: those that are its instances or may be confused with them,
// and those with its mark. It is empty if the cluster was not observed.
func (x *Index) Of(instances []Instance, poolUID string) Observation {
	if x == nil || !x.observation.Observed() {
		return Observation{}
	}
	var found []int
	for _, i := range instances {
		found = append(found, x.byInstance[i.ID]...)
		if i.PrivateIP != "" {
			found = append(found, x.byAddress[i.PrivateIP]...)
		}
	}
	if poolUID != "" {
		found = append(found, x.byPool[poolUID]...)
	}
	slices.Sort(found)
	o := x.observation
	for _, at := range slices.Compact(found) {
		o.Nodes = append(o.Nodes, x.nodes[at])
	}
	return o
}

// Others counts the nodes that other pools marked, and those of them that are not Ready,
// which fail after the time given. What is cordoned for its end counts as neither,
// and the mark of a pool for which counts is false as none. A node's own word for since
// when it is not Ready is enough here: it can only hold replacing back.
func (x *Index) Others(poolUID string, counts func(poolUID string) bool, unhealthy time.Duration, now time.Time) Count {
	var c Count
	if x == nil {
		return c
	}
	for _, n := range x.nodes {
		if n.Pool == "" || n.Pool == poolUID || n.CordonedBy != "" || !counts(n.Pool) {
			continue
		}
		c.Nodes++
		switch {
		case n.Ready == ReadyTrue:
		case now.Sub(n.ReadySince) >= unhealthy:
			c.Failed++
		default:
			c.Unready++
		}
	}
	return c
}
