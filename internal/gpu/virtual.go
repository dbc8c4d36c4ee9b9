package gpu

import (
	"math/big"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// vgpuFamily are the resources with which a pod requests parts of cards: how many cards, and how
// much of each.
type vgpuFamily struct{ count, cores, memory, memoryPercent string }

// The names of HAMi, and those of Volcano's device plugin of the same kind.
var vgpuFamilies = []vgpuFamily{
	{nvidiaGPU, "nvidia.com/gpucores", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage"},
	{volcanoVGPU, "volcano.sh/vgpu-cores", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage"},
}

func isCardPart(resource string) bool {
	for _, f := range vgpuFamilies {
		if resource == f.cores || resource == f.memory || resource == f.memoryPercent {
			return true
		}
	}
	return false
}

// vgpus counts a request of the family, and removes it from the requests. Each card counts by the
// larger of its requested shares of cores and of memory. A request of cores only counts by cores,
// as in quotas of nvidia.com/gpucores (Kueue documentation, Using HAMi).
func (y *tally) vgpus(held amounts, asked map[string]*big.Rat, f vgpuFamily) {
	count, cores, memory, percent := asked[f.count], asked[f.cores], asked[f.memory], asked[f.memoryPercent]
	if _, own := y.table.own[f.count]; own || count == nil || cores == nil && memory == nil && percent == nil {
		return
	}
	part := one
	switch card := y.node.devices().Memory; {
	case percent != nil && percent.Sign() > 0:
		part = new(big.Rat).Mul(percent, hundredth)
	case memory == nil || memory.Sign() == 0:
		if cores != nil && cores.Sign() > 0 {
			part = new(big.Rat)
		}
	case card > 0:
		part = new(big.Rat).Quo(memory, new(big.Rat).SetInt64(card))
	case cores != nil && cores.Sign() > 0:
		part = new(big.Rat)
		y.unknownMemory(reason.MemoryUnknownCores, f.memory)
	default:
		y.unknownMemory(reason.MemoryUnknownWhole, f.memory)
	}
	if cores != nil {
		part = greater(part, new(big.Rat).Mul(cores, hundredth))
	}
	if part.Cmp(one) > 0 {
		part = one
	}
	held.add(f.count, count, new(big.Rat).Mul(count, part))
	delete(asked, f.count)
}

// qgpu counts Tencent's parts of cards by cores, of which a card has a hundred. If the share by GiB
// of memory is larger, that counts instead. Both describe the same card and are never added up. A
// pod of the offline class has only memory.
func (y *tally) qgpu(held amounts, asked map[string]*big.Rat) {
	core, memory := asked[qgpuCore], asked[qgpuMemory]
	_, ownCore := y.table.own[qgpuCore]
	if _, own := y.table.own[qgpuMemory]; own || ownCore || memory == nil || memory.Sign() == 0 {
		return
	}
	byCore := new(big.Rat)
	if core != nil {
		byCore.Mul(core, hundredth)
	}
	byMemory := new(big.Rat)
	if card := y.node.devices().Memory; card > 0 {
		byMemory = least(byMemory.Mul(memory, big.NewRat(1024, card)), one) // GiB of a card's MiB
	} else if byCore.Sign() == 0 {
		y.unknownMemory(reason.MemoryUnknown, qgpuMemory)
		y.doubts.lost = true
		return
	}
	if byCore.Sign() == 0 {
		delete(asked, qgpuMemory)
		held.add(qgpuMemory, memory, byMemory)
		return
	}
	delete(asked, qgpuCore)
	held.add(qgpuCore, core, greater(byCore, byMemory))
}

func (y *tally) unknownMemory(why func(reason.Value, reason.Node) reason.Reason, resource string) {
	if y.node.Name != "" {
		y.doubts.add(why(reason.NewValue(resource), y.at()))
	}
}

func greater(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}
