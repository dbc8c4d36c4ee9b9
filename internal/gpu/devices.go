package gpu

import "math/big"

// Devices is what a node reports of its GPUs. It is immutable, and many nodes and pods share one.
type Devices struct {
	// MIG is the profile of every device under the MIG strategy "single", such as "1g.5gb"; empty
	// for whole GPUs.
	MIG string
	// Slices is the label nvidia.com/gpu.slices.gi: MIG's compute slices of a device. Zero if
	// unknown.
	Slices int64
	// Replicas is how many share one device, by resource; absent if exclusive.
	Replicas map[string]int
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
func (d *Devices) nvidiaUnit(model string) *big.Rat {
	return shared(d.nvidiaDevice(model), d.Replicas[nvidiaGPU])
}

// nvidiaSharedUnit returns the weight of one nvidia.com/gpu.shared.
func (d *Devices) nvidiaSharedUnit(model string) *big.Rat {
	return shared(d.nvidiaDevice(model), max(d.Replicas[nvidiaGPU], d.Replicas[nvidiaShared]))
}

func (d *Devices) nvidiaDevice(model string) *big.Rat {
	profile, ok := parseMIG(d.MIG)
	if d.Slices > 0 {
		profile.compute = d.Slices
	} else if !ok {
		return one
	}
	return profile.part(model)
}

// migUnit returns the weight of a slice by the name of its resource.
func (d *Devices) migUnit(resource, model string) (weight *big.Rat, doubt string) {
	profile, _ := parseMIG(resource[len(migPrefix):])
	part := profile.part(model)
	base := resource
	if profile.shared {
		base = resource[:len(resource)-len(".shared")]
	}
	replicas := max(d.Replicas[base], d.Replicas[resource])
	if profile.shared && replicas < 2 {
		return part, "its node has no label " + base + ".replicas: each " + resource + " is counted as a whole slice"
	}
	return shared(part, replicas), ""
}

// amdUnit returns the weight of one amd.com/gpu: a GPU, or one partition if all GPUs of the node
// are partitioned alike.
func (d *Devices) amdUnit(model string) *big.Rat {
	if parts := amdPartitions(d.Partition, model); parts > 0 {
		return big.NewRat(1, parts)
	}
	return one
}
