package stockpool_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// The pods of a stock pool ask for its GPUs.
func ExampleDeclaration_Deployment() {
	d := stockpool.Declaration{Name: "warm", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/runtime:1", Memory: "16Gi", GPU: 2}.WithDefaults()
	of := d.Deployment(stockpool.Container, 3)
	gpus := of.Spec.Template.Spec.Containers[0].Resources.Limits[stockpool.DefaultGPUResource]
	fmt.Println(of.Namespace+"/"+of.Name, *of.Spec.Replicas, gpus.String())
	// Output: ml/warm 3 2
}
