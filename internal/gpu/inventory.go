package gpu

import (
	"maps"
	"math/big"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Inventory is what the resource slices of a cluster report of its GPUs. It is safe for concurrent
// use. Make one with NewInventory.
type Inventory struct {
	devices map[deviceName]device
	nodes   map[string][]deviceName // by node
}

type deviceName struct{ driver, pool, device string }

// device is a GPU, or a part of one, that a driver offers.
type device struct {
	part     *big.Rat            // of a GPU; zero if it is not a GPU
	node     string              // empty if it belongs to no single node
	counters string              // the counter set that it shares with other parts of the GPU
	capacity map[string]*big.Rat // the capacity that several claims may share
}

// NewInventory reads slices. Only the newest generation of a pool counts, as for the scheduler.
// Drivers of other devices are ignored.
func NewInventory(slices []*resourcev1.ResourceSlice) *Inventory {
	type poolName struct{ driver, pool string }
	newest := map[poolName]int64{}
	for _, s := range slices {
		name := poolName{s.Spec.Driver, s.Spec.Pool.Name}
		newest[name] = max(newest[name], s.Spec.Pool.Generation)
	}
	current := func(s *resourcev1.ResourceSlice) bool {
		return gpuDrivers[s.Spec.Driver] && s.Spec.Pool.Generation == newest[poolName{s.Spec.Driver, s.Spec.Pool.Name}]
	}
	counters := map[deviceName]map[string]resourcev1.Counter{} // by counter set of the pool, whichever slice has it
	for _, s := range slices {
		if !current(s) {
			continue
		}
		for _, set := range s.Spec.SharedCounters {
			counters[deviceName{s.Spec.Driver, s.Spec.Pool.Name, set.Name}] = set.Counters
		}
	}
	inventory := &Inventory{devices: map[deviceName]device{}, nodes: map[string][]deviceName{}}
	for _, s := range slices {
		if !current(s) {
			continue
		}
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			sets := func(name string) map[string]resourcev1.Counter {
				return counters[deviceName{s.Spec.Driver, s.Spec.Pool.Name, name}]
			}
			read := readDevice(d, sets)
			for _, node := range []*string{s.Spec.NodeName, d.NodeName} {
				if node != nil {
					read.node = *node
				}
			}
			name := deviceName{s.Spec.Driver, s.Spec.Pool.Name, d.Name}
			if _, again := inventory.devices[name]; !again {
				inventory.nodes[read.node] = append(inventory.nodes[read.node], name)
			}
			inventory.devices[name] = read
		}
	}
	return inventory
}

func (i *Inventory) device(driver, pool, name string) (device, bool) {
	if i == nil {
		return device{}, false
	}
	d, ok := i.devices[deviceName{driver, pool, name}]
	return d, ok
}

// sum adds up the wanted devices of a node, by a weight or by the part of a GPU that each is. Parts
// that consume the same counters are one GPU together.
func (i *Inventory) sum(node string, wanted func(driver string) (weight *big.Rat, ok bool)) *big.Rat {
	total := new(big.Rat)
	if i == nil {
		return total
	}
	cut := map[deviceName]bool{}
	for _, name := range i.nodes[node] {
		d := i.devices[name]
		switch weight, ok := wanted(name.driver); {
		case !ok || d.node != node:
		case weight != nil:
			total.Add(total, weight)
		case d.counters != "":
			cut[deviceName{name.driver, name.pool, d.counters}] = true
		default:
			total.Add(total, d.part)
		}
	}
	return total.Add(total, new(big.Rat).SetInt64(int64(len(cut))))
}

func (i *Inventory) offered(node, driver string) *big.Rat {
	return i.sum(node, func(of string) (*big.Rat, bool) { return nil, of == driver })
}

// Offer adds the devices of the slices to a node's capacity, by driver.
func (i *Inventory) Offer(n *Node) {
	if i == nil || len(i.nodes[n.Name]) == 0 {
		return
	}
	capacity := maps.Clone(n.Capacity)
	if capacity == nil {
		capacity = map[string]*big.Rat{}
	}
	for driver := range gpuDrivers {
		if offered := i.offered(n.Name, driver); offered.Sign() > 0 {
			capacity[driver] = offered
		}
	}
	n.Capacity = capacity
}

func readDevice(d *resourcev1.Device, sets func(name string) map[string]resourcev1.Counter) device {
	read := device{part: devicePart(d, sets), capacity: map[string]*big.Rat{}}
	if len(d.ConsumesCounters) > 0 {
		read.counters = d.ConsumesCounters[0].CounterSet
	}
	for name, c := range d.Capacity {
		read.capacity[string(name)] = exact(c.Value)
	}
	return read
}

// devicePart returns the device's part of a GPU: from the counters that it shares with other parts,
// or else from its profile.
func devicePart(d *resourcev1.Device, sets func(name string) map[string]resourcev1.Counter) *big.Rat {
	if strings.Contains(attribute(d, "type"), "imex") {
		return new(big.Rat) // a channel between GPUs
	}
	part := new(big.Rat)
	for _, consumption := range d.ConsumesCounters {
		part = greater(part, consumedPart(consumption.Counters, sets(consumption.CounterSet)))
	}
	if part.Sign() > 0 {
		return least(part, one)
	}
	if profile, ok := parseMIG(attribute(d, "profile")); ok {
		part, _ := profile.part(attribute(d, "productName"))
		return part
	}
	if parts := amdPartitions(strings.ToLower(attribute(d, "partitionProfile")), attribute(d, "productName")); parts > 0 {
		return big.NewRat(1, parts)
	}
	return one
}

// consumedPart returns the consumed part of one counter set. Compute counts first, as for slices
// that are requested by name, then memory, then the scarcest counter.
func consumedPart(consumed, total map[string]resourcev1.Counter) *big.Rat {
	ratio := func(name string) *big.Rat {
		all := exact(total[name].Value)
		if all.Sign() <= 0 {
			return new(big.Rat)
		}
		return new(big.Rat).Quo(exact(consumed[name].Value), all)
	}
	for _, name := range []string{"multiprocessors", "compute-units", "computeUnits", "memory"} {
		if part := ratio(name); part.Sign() > 0 {
			return part
		}
	}
	part := new(big.Rat)
	for name := range consumed {
		part = greater(part, ratio(name))
	}
	return part
}

// consumed returns the part of the device that a share takes, by the capacity of which it takes
// most. Without capacity it is all of the device.
func (d device) consumed(capacity map[resourcev1.QualifiedName]resource.Quantity) *big.Rat {
	part := new(big.Rat)
	for name, q := range capacity {
		if all := d.capacity[string(name)]; all != nil && all.Sign() > 0 {
			part = greater(part, new(big.Rat).Quo(exact(q), all))
		}
	}
	if part.Sign() <= 0 {
		return one
	}
	return least(part, one)
}

func attribute(d *resourcev1.Device, name string) string {
	for key, value := range d.Attributes {
		if _, plain, ok := strings.Cut(string(key), "/"); value.StringValue != nil && (string(key) == name || ok && plain == name) {
			return *value.StringValue
		}
	}
	return ""
}

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}
