package gpu

import (
	"math/big"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// The resources that count by default, in addition to those named after a slice of a GPU (NVIDIA's
// mig-…, AMD's partitions).
const (
	nvidiaGPU    = "nvidia.com/gpu"
	nvidiaShared = "nvidia.com/gpu.shared"
	amdGPU       = "amd.com/gpu"
	amdGPUPF     = "amd.com/gpu_pf"
	amdGPUVF     = "amd.com/gpu_vf"
	intelI915    = "gpu.intel.com/i915"
	intelXe      = "gpu.intel.com/xe"
	qgpuCore     = "tke.cloud.tencent.com/qgpu-core"
	qgpuMemory   = "tke.cloud.tencent.com/qgpu-memory"
	vcudaCore    = "tencent.com/vcuda-core"
	volcanoVGPU  = "volcano.sh/vgpu-number"
)

// DefaultWeight documents one default rule.
type DefaultWeight struct {
	Resource string // as pods name it; <…> stands for a variable part
	Weight   string // GPUs per unit
	Note     string
	Source   string // where that is published
}

// DefaultWeights returns the rules, in the order in which to show them.
func DefaultWeights() []DefaultWeight {
	const (
		plugin  = "NVIDIA/k8s-device-plugin README.md, GPU feature discovery labels"
		mig     = "NVIDIA Multi-Instance GPU User Guide, supported profiles"
		amd     = "AMD GPU device plugin, resource naming strategies"
		intel   = "Intel device plugins for Kubernetes, GPU plugin README"
		qgpu    = "Tencent Cloud documentation 457/59103, Using qGPU"
		manager = "tkestack/gpu-manager README.md"
		hami    = "Project-HAMi/HAMi README.md; Kueue documentation, Using HAMi"
		volcano = "Project-HAMi/volcano-vgpu-device-plugin README.md"
		kai     = "KAI-Scheduler docs/gpu-sharing"
		dra     = "Kubernetes API reference, resource.k8s.io/v1 ResourceClaim and ResourceSlice"
	)
	return []DefaultWeight{
		{nvidiaGPU, "1", "1/replicas, or gpu.count / capacity, if time-slicing or MPS shares it; g/7 if the product label names a MIG profile", plugin},
		{nvidiaShared, "1/replicas", "from the node's label nvidia.com/gpu.replicas, or gpu.count / capacity; two of them are not two GPUs", plugin},
		{"nvidia.com/mig-<g>g.<m>gb", "g/7", "by compute; g/4 on A30 and RTX PRO 6000; g/2 on RTX PRO 5000, 4500 and Thor; with .shared by its replicas", mig},
		{nvidiaGPU + " with gpucores, gpumem or gpumem-percentage", "max(cores/100, memory/card)", "HAMi; of those that are requested", hami},
		{volcanoVGPU, "max(cores/100, memory/card)", "with vgpu-cores, vgpu-memory and vgpu-memory-percentage, by the same rule", volcano},
		{amdGPU, "1", "1/partitions if the node's label amd.com/compute-memory-partition names a mode", amd},
		{"amd.com/<mode>_nps<n>", "1/partitions", "spx 1, dpx 1/2, tpx 1/3, qpx 1/4, cpx 1/8 (1/6 on MI300A)", amd},
		{amdGPUPF, "1", "passed through whole", amd},
		{amdGPUVF, "1", "passed through as a virtual function", amd},
		{intelI915, "1", "1/shared if the node has more units than its label gpu.intel.com/device.count; never i915_monitoring", intel},
		{intelXe, "1", "the same; never xe_monitoring", intel},
		{qgpuCore, "1/100", "or the share of the card's memory, if that is known and greater; qgpu-memory is not added", qgpu},
		{vcudaCore, "1/100", "the predecessor of qGPU", manager},
		{"annotation gpu-fraction, or gpu-memory", "the fraction", "of each of gpu-fraction-num-devices; if the scheduler reserved them on the node; " +
			"its reservation pods are left out", kai},
		{
			"DRA driver gpu.nvidia.com, gpu.amd.com, gpu.intel.com", "1",
			"each allocated device; a partition by its counters, a share by its capacity", dra,
		},
	}
}

// Table knows how many GPUs a unit of a resource is worth. It is safe for concurrent use. Make one
// with Rules.Table.
type Table struct {
	own   map[string]*big.Rat // the rules' own weights
	extra map[string]bool     // reported, with the weight zero unless something else counts them
}

var (
	one       = big.NewRat(1, 1)
	hundredth = big.NewRat(1, 100)
)

var zero = new(big.Rat)

// Counts reports whether requests for a resource are reported: it is a GPU, or one of the rules'
// extra resources.
func (t *Table) Counts(resource string) bool { return t.extra[resource] || t.isGPU(resource) }

func (t *Table) isGPU(resource string) bool {
	if weight, ok := t.own[resource]; ok {
		return weight.Sign() > 0
	}
	return countsByDefault(resource)
}

func countsByDefault(resource string) bool {
	switch resource {
	case nvidiaGPU, nvidiaShared, amdGPU, amdGPUPF, amdGPUVF, intelI915, intelXe, qgpuCore, vcudaCore, volcanoVGPU:
		return true
	}
	if strings.HasPrefix(resource, migPrefix) {
		_, ok := parseMIG(resource[len(migPrefix):])
		return ok
	}
	return strings.HasPrefix(resource, "amd.com/") && amdPartitions(resource, "") > 0
}

// weight returns how many GPUs one unit of a counted resource is on a node. The doubt says which
// information was missing.
func (t *Table) weight(resource string, node *Node) (weight *big.Rat, doubt reason.Reason) {
	if own, ok := t.own[resource]; ok {
		return own, doubt
	}
	if !t.isGPU(resource) {
		return zero, doubt
	}
	d := node.devices()
	switch resource {
	case nvidiaGPU:
		return d.nvidiaUnit(node.Model)
	case nvidiaShared:
		return d.nvidiaSharedUnit(node.Model)
	case qgpuCore, vcudaCore:
		return hundredth, doubt
	case amdGPU:
		return d.amdUnit(node.Model), doubt
	case intelI915, intelXe:
		return shared(one, d.Replicas[resource]), doubt
	}
	if strings.HasPrefix(resource, migPrefix) {
		return d.migUnit(resource, node.Model)
	}
	if parts := amdPartitions(resource, node.Model); parts > 0 {
		return big.NewRat(1, parts), doubt
	}
	return one, doubt // amd.com/gpu_pf, amd.com/gpu_vf, volcano.sh/vgpu-number
}

// shared divides a weight by the number of replicas of one device.
func shared(weight *big.Rat, replicas int) *big.Rat {
	if replicas < 2 {
		return weight
	}
	return new(big.Rat).Mul(weight, big.NewRat(1, int64(replicas)))
}
