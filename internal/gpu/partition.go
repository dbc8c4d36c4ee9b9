package gpu

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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

// migProducts are the GPUs with MIG by their compute slices, which are their most instances. Source: NVIDIA
// Multi-Instance GPU User Guide 610, Supported GPUs, as of October 2026.
var migProducts = []struct {
	name   *regexp.Regexp
	slices int64
}{
	{regexp.MustCompile(`(?i)(^|[-_ ])(A100|H100|H200|GH200|H20|B200|GB200)([-_ ]|$)`), 7},
	{regexp.MustCompile(`(?i)(^|[-_ ])(A30|RTX[-_ ]PRO[-_ ]6000)([-_ ]|$)`), 4},
	{regexp.MustCompile(`(?i)(^|[-_ ])(RTX[-_ ]PRO[-_ ][45]\d00|Thor)([-_ ]|$)`), 2},
}

// fewSlices are the profiles of GPUs with less than seven slices. Each has the numbers of slices of all
// GPUs with this profile, the most first. Other profiles are of GPUs with seven.
var fewSlices = map[[2]int64][]int64{
	{1, 6}: {4}, {2, 12}: {4}, {4, 24}: {4}, {4, 96}: {4},
	{1, 16}: {2}, {2, 32}: {2},
	{1, 24}: {7, 4, 2}, {2, 48}: {4, 2},
}

// slices returns how many compute slices the GPU has; the most if that is in doubt.
func (p migProfile) slices(model string) (slices int64, doubt reason.Reason) {
	if model == "" {
		few := fewSlices[[2]int64{p.compute, p.memory}]
		if len(few) == 0 {
			return 7, reason.Reason{}
		}
		if len(few) > 1 {
			doubt = reason.SlicesInDoubt(nvidiaProductLabel, reason.Value(fmt.Sprintf("%dg.%dgb", p.compute, p.memory)),
				reason.Count(few[len(few)-1]), reason.Count(few[0]))
		}
		return few[0], doubt
	}
	for _, known := range migProducts {
		if known.name.MatchString(model) {
			return known.slices, reason.Reason{}
		}
	}
	return 7, reason.ProductUnlisted(reason.NewValue(model))
}

// part returns the share of the GPU's compute.
func (p migProfile) part(model string) (part *big.Rat, doubt reason.Reason) {
	slices, doubt := p.slices(model)
	return big.NewRat(min(p.compute, slices), slices), doubt
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
