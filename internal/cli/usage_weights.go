package cli

import (
	"bytes"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// weightsHelp lists what a unit of each resource is worth where no flag says so.
func weightsHelp() string {
	var out bytes.Buffer
	out.WriteString("GPUs a unit, where --weight says nothing else:\n")
	for _, d := range gpu.DefaultWeights() {
		fmt.Fprintf(&out, "\n  %s: %s\n      %s\n", d.Resource, d.Weight, d.Note)
	}
	return out.String()
}
