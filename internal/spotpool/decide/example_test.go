package decide_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// A pool that is below its minimum launches where its first offering has stock. The same
// situation always gives the same plan.
func ExampleDecide() {
	at := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	d := spotpool.Declaration{
		Name: "train", Region: "ap-singapore", UID: "0123456789abcdef0123456789abcdef", AccountID: "100000000001", Minimum: 2, Maximum: 4,
		Offerings: []spotpool.Offering{
			{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"},
			{AvailabilityZone: "ap-singapore-3", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-e5f6a7b8"},
		},
	}.WithDefaults()
	var offers []spotpool.Offer
	for n, stock := range []spotpool.Stock{spotpool.StockNone, spotpool.StockEnough} {
		offers = append(offers, spotpool.Offer{Market: d.Offerings[n].Market(spotpool.Spot), Price: 1_900_000, Stock: stock, VCPUs: 8})
	}
	plan := decide.Decide(decide.Situation{
		Declaration: d, Observation: spotpool.Observation{At: at, Region: d.Region, AccountID: d.AccountID, Offers: offers}, Now: at,
		Journal: journal.Journal{}.Salted("5a175a175a175a175a175a175a175a17"),
	})
	for _, decision := range plan.Decisions {
		fmt.Println(decision.Summary())
	}
	// Output: launch 2 spot GN7.2XLARGE32 in ap-singapore-3
}
