package tencent

import (
	"slices"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/regions"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// regionNames are those of the SDK. They suggest the intended name, and refuse none.
// DescribeRegions would need a permission, and is out of date (its comment in
// cvm/v20170312/client.go).
var regionNames = []string{
	regions.Bangkok, regions.Beijing, regions.Chengdu, regions.Chongqing, regions.Guangzhou, regions.GuangzhouOpen, regions.HongKong,
	regions.Jakarta, regions.Mumbai, regions.Seoul, regions.Shanghai, regions.Nanjing, regions.ShanghaiFSI, regions.ShenzhenFSI,
	regions.Singapore, regions.Tokyo, regions.Frankfurt, regions.Moscow, regions.Ashburn, regions.SiliconValley, regions.Toronto,
	regions.SaoPaulo,
}

// remedyOfRegion returns what to do about an unknown region.
func remedyOfRegion(region string) reason.Reason {
	if nearest := wording.Nearest(region, regionNames); nearest != "" && !slices.Contains(regionNames, region) {
		return reason.CheckMeantRegion(reason.Quoted(nearest))
	}
	return reason.CheckRegion()
}
