package decide_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// A stock pool that has no Deployment yet gets one.
func ExampleDecide() {
	now := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	d := stockpool.Declaration{
		Name: "warm", Namespace: "ml", UID: "uid-1", Generation: 1, ClusterUID: "cluster-1", SpecName: "g1.1",
		Image: "registry.example.com/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 3,
	}.WithDefaults()
	observed := stockpool.Observations{ClusterUID: "cluster-1", At: now, Namespaces: map[string]map[string]string{"ml": {}}}
	plan := decide.Decide(decide.Situation{Declaration: d, Observation: observed.Of(d), Recorded: true, Now: now})
	for _, decision := range plan.Decisions {
		fmt.Println(decision.Summary())
	}
	// Output: create its Deployment, empty at first
}
