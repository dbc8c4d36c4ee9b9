package gpu

import (
	"math/big"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Devices is what a node reports of its GPUs. It is immutable, and many nodes and pods share one.
type Devices struct {
	// MIG is the profile of every device under the MIG strategy "single", such as "1g.5gb"; empty
	// for whole GPUs.
	MIG string
	// Slices is the label nvidia.com/gpu.slices.gi: MIG's compute slices of a device. Zero if
	// unknown.
	Slices int64
	// Replicas is how many share one device, by resource; absent if exclusive. It is 1 if a label says so and
	// Parts contradicts it.
	Replicas map[string]int
	// Parts are which part of a device one unit is, by resource, where the node lists more units than
	// it has devices.
	Parts map[string]*big.Rat
	// Memory is a card's, in MiB; zero if unknown or if cards differ.
	Memory int64
	// Partition is the mode that partitions every AMD GPU, such as "cpx_nps4".
	Partition string
	// Cards is how many real cards a node with virtual GPUs has; zero elsewhere.
	Cards int64
}

var noDevices = &Devices{}

func (n *Node) devices() *Devices {
	if n.Devices == nil {
		return noDevices
	}
	return n.Devices
}

// nvidiaUnit returns the weight of one nvidia.com/gpu: a GPU, or a MIG slice under the strategy
// "single". If several share it and the plugin does not rename it, the weight is that of one share.
func (d *Devices) nvidiaUnit(model string) (weight *big.Rat, doubt reason.Reason) {
	part, _, doubt := d.part(nvidiaGPU, nvidiaGPU)
	device, slices := d.nvidiaDevice(model)
	return new(big.Rat).Mul(part, device), first(doubt, slices)
}

// nvidiaSharedUnit returns the weight of one nvidia.com/gpu.shared.
func (d *Devices) nvidiaSharedUnit(model string) (weight *big.Rat, doubt reason.Reason) {
	part, known, doubt := d.part(nvidiaShared, nvidiaGPU)
	if !known {
		return one, reason.ReplicasUnknown("nvidia.com/gpu.replicas", nvidiaShared)
	}
	device, slices := d.nvidiaDevice(model)
	return new(big.Rat).Mul(part, device), first(doubt, slices)
}

// part returns which part of a device one unit of a resource is. The node says that twice: by a label of the
// device's resource, and by its capacity. If these contradict each other, the smaller part counts.
func (d *Devices) part(resource, device string) (part *big.Rat, known bool, doubt reason.Reason) {
	replicas := max(d.Replicas[device], d.Replicas[resource])
	byLabel, byCapacity := shared(one, replicas), d.Parts[resource]
	switch {
	case byCapacity == nil:
		return byLabel, replicas > 1, reason.Reason{}
	case replicas > 0 && byLabel.Cmp(byCapacity) != 0:
		doubt = reason.ReplicasContradict(reason.NewValue(device+".replicas"), reason.Count(replicas), reason.NewValue(resource), amountOf(byCapacity))
		return least(byLabel, byCapacity), true, doubt
	}
	return byCapacity, true, reason.Reason{}
}

func (d *Devices) nvidiaDevice(model string) (weight *big.Rat, doubt reason.Reason) {
	profile, ok := parseMIG(d.MIG)
	if d.Slices > 0 {
		profile.compute = d.Slices
	} else if !ok {
		return one, reason.Reason{}
	}
	return profile.part(model)
}

// migUnit returns the weight of a slice by the name of its resource.
func (d *Devices) migUnit(resource, model string) (weight *big.Rat, doubt reason.Reason) {
	profile, _ := parseMIG(resource[len(migPrefix):])
	part, slices := profile.part(model)
	base := strings.TrimSuffix(resource, sharedSuffix)
	share, known, doubt := d.part(resource, base)
	if profile.shared && !known {
		return part, reason.SliceReplicasUnknown(reason.NewValue(base+".replicas"), reason.NewValue(resource))
	}
	return new(big.Rat).Mul(share, part), first(doubt, slices)
}

// amdUnit returns the weight of one amd.com/gpu: a GPU, or one partition if all GPUs of the node
// are partitioned alike.
func (d *Devices) amdUnit(model string) *big.Rat {
	if parts := amdPartitions(d.Partition, model); parts > 0 {
		return big.NewRat(1, parts)
	}
	return one
}
