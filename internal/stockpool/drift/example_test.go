package drift_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// kubectl scale changed a Deployment.
func ExampleChanges() {
	d := stockpool.Declaration{Name: "warm", Namespace: "ml", Image: "registry.example.com/runtime:1", Memory: "16Gi"}.WithDefaults()
	for _, c := range drift.Changes(d.Deployment("", 7), d.Deployment("", 3)) {
		fmt.Println(c.Reason())
	}
	// Output: spec.replicas was 7 instead of 3
}
