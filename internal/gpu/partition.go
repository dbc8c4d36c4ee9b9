package gpu

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

const migPrefix = "nvidia.com/mig-"

// migProfile is the parsed name of a MIG slice: "1g.5gb", with attributes such as ".me", and with
// ".shared" if several share the slice.
type migProfile struct {
	compute, memory int64 // slices of compute, and GB
	shared          bool
}

var migName = regexp.MustCompile(`^(?:([1-9])c\.)?([1-9])g\.([0-9]{1,4})gb((?:[.+-][a-z]+)*)$`)

func parseMIG(name string) (migProfile, bool) {
	parts := migName.FindStringSubmatch(name)
	if parts == nil {
		return migProfile{}, false
	}
	compute := parts[2]
	if parts[1] != "" { // a compute instance within the slice
		compute = parts[1]
	}
	var p migProfile
	p.compute, _ = strconv.ParseInt(compute, 10, 64) // the pattern only matches digits
	p.memory, _ = strconv.ParseInt(parts[3], 10, 64)
	p.shared = strings.HasSuffix(parts[4], ".shared")
	return p, true
}

var fourSlices = regexp.MustCompile(`(?i)(^|[-_ ])(A30([-_ ]|$)|RTX[-_ ]PRO[-_ ]6000)`)

// slices returns how many compute slices the GPU has: seven, except for those with four (NVIDIA
// Multi-Instance GPU User Guide).
func (p migProfile) slices(model string) int64 {
	if fourSlices.MatchString(model) {
		return 4
	}
	if model == "" {
		// Profiles that only GPUs with four slices have.
		switch [2]int64{p.compute, p.memory} {
		case [2]int64{1, 6}, [2]int64{2, 12}, [2]int64{4, 24}, [2]int64{2, 48}, [2]int64{4, 96}:
			return 4
		}
	}
	return 7
}

// part returns the share of the GPU's compute.
func (p migProfile) part(model string) *big.Rat {
	slices := p.slices(model)
	return big.NewRat(min(p.compute, slices), slices)
}

var amdPartition = regexp.MustCompile(`^(spx|dpx|tpx|qpx|cpx)_nps[1-8]$`)

// amdPartitions returns how many devices a mode makes of the GPU, or zero for an unknown mode. The
// text may include the resource's domain.
func amdPartitions(mode, model string) int64 {
	parts := amdPartition.FindStringSubmatch(strings.TrimPrefix(mode, "amd.com/"))
	if parts == nil {
		return 0
	}
	switch parts[1] {
	case "spx":
		return 1
	case "dpx":
		return 2
	case "tpx":
		return 3
	case "qpx":
		return 4
	}
	// One device per compute die: six on MI300A, eight on the others.
	if strings.Contains(strings.ToUpper(model), "MI300A") {
		return 6
	}
	return 8
}
