package tencent

import (
	"fmt"
	"slices"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/regions"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// regionNames are those of the SDK. They find the name that was probably meant, and refuse
// none. DescribeRegions would need a permission, and is not kept up to date by the cloud
// (its comment in cvm/v20170312/client.go).
var regionNames = []string{
	regions.Bangkok, regions.Beijing, regions.Chengdu, regions.Chongqing, regions.Guangzhou, regions.GuangzhouOpen, regions.HongKong,
	regions.Jakarta, regions.Mumbai, regions.Seoul, regions.Shanghai, regions.Nanjing, regions.ShanghaiFSI, regions.ShenzhenFSI,
	regions.Singapore, regions.Tokyo, regions.Frankfurt, regions.Moscow, regions.Ashburn, regions.SiliconValley, regions.Toronto,
	regions.SaoPaulo,
}

// remedyOfRegion is what to do about a region that the cloud does not know.
func remedyOfRegion(region string) string {
	if nearest := wording.Nearest(region, regionNames); nearest != "" && !slices.Contains(regionNames, region) {
		return fmt.Sprintf("Did you mean %q? %s", nearest, remedyRegion)
	}
	return remedyRegion
}
