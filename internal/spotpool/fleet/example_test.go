package fleet_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

// An instance that is gone was lost, unless the pool terminated it. The loss is an event, and
// its market is avoided.
func ExampleFleet_Update() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	market := spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot}
	about := history.About{At: noon, Object: "spot_pool/ap-singapore/train", ObjectUID: "u"}
	f, _ := fleet.Fleet{}.Record(
		fleet.Known{InstanceID: "ins-2", Market: market, Seen: true}, fleet.Known{InstanceID: "ins-1", Market: market, Seen: true},
	)
	f, _ = f.Terminate(about, []string{"ins-1"})

	u := f.Update(about, spotpool.Declaration{}, spotpool.Observation{}, fleet.Evidence{Cost: func(spotpool.Market) (c spotpool.Cost) { return c }})
	for _, e := range u.Events {
		fmt.Println(e.Kind, e.InstanceIDs)
	}
	for _, e := range u.Endings {
		fmt.Println(e.Reason())
	}
	fmt.Println(len(u.Fleet.Known), len(u.Fleet.Past))
	// Output:
	// terminated [ins-1]
	// lost [ins-2]
	// ins-2 (GN7.2XLARGE32 in ap-singapore-2) is gone: reclaimed by Tencent Cloud, or terminated or untagged by hand
	// 0 2
}
