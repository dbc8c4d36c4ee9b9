package markets_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// A batch that was refused halves the next one in its market. A loss there begins another
// cooldown, in addition to the first.
func ExampleForRefusal() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	offering := spotpool.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"}
	request := spotpool.Request{Offering: offering, ChargeType: spotpool.Spot, Count: 8}
	refusal := &spotpool.CloudError{Class: errorclass.Capacity, Scope: spotpool.ScopeOffering, Code: "ResourcesSoldOut"}

	half, _ := markets.ForRefusal(request, refusal, noon.Add(10*time.Minute))
	request.Count = half.Batch
	quarter, _ := markets.ForRefusal(request, refusal, noon.Add(20*time.Minute))
	reclaim := markets.Cooldown{Market: offering.Market(spotpool.Spot), Cause: markets.CausedByLoss, Until: noon.Add(time.Minute)}

	list := markets.Cooldowns{}.Add(half).Add(reclaim).Add(quarter)
	for _, c := range list.At(noon) {
		fmt.Println(c.Batch, c)
	}
	fmt.Println(len(list.At(noon.Add(time.Minute))))
	// Output:
	// 0 instance just lost, cooling down until 2026-03-01T12:01:00Z
	// 2 no stock or quota for a larger batch (ResourcesSoldOut), cooling down until 2026-03-01T12:20:00Z
	// 1
}
