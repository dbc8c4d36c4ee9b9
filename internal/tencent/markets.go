package tencent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"
	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Markets returns price and stock of every zone and type of the region, for spot and on-demand
// instances. It also returns the remaining spot vCPUs of the account, by zone.
//
// A region that sells no spot instances, or is unknown, is a *spotpool.CloudError of class
// configuration that names it. The offers of a region without spot come with the error, since
// on-demand pools can use them. An unreadable quota is no error, but unknown in the result.
func (c *Client) Markets(ctx context.Context, region string) (spotpool.Markets, error) {
	var m spotpool.Markets
	group, within := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		m.Offers, err = c.offers(within, region)
		return err
	})
	group.Go(func() error {
		m.SpotVCPUs, m.QuotaUnknown = c.spotVCPUs(within, region)
		return within.Err() // an interrupted call shows nothing of the quota
	})
	if err := group.Wait(); err != nil {
		return spotpool.Markets{}, namingRegion(err, region)
	}
	for _, o := range m.Offers {
		if o.ChargeType == spotpool.Spot {
			return m, nil
		}
	}
	return spotpool.Markets{Offers: m.Offers}, &spotpool.CloudError{
		Class: errorclass.Configuration, Scope: spotpool.ScopePool, NothingLaunched: true,
		Action: "DescribeZoneInstanceConfigInfos", Code: "UnsupportedOperation.SpotUnsupportedRegion",
		Message: fmt.Sprintf("the region %s sells no spot instances.", region), Remedy: reason.LeaveSpot(),
	}
}

func (c *Client) offers(ctx context.Context, region string) ([]spotpool.Offer, error) {
	request, response := cvm.NewDescribeZoneInstanceConfigInfosRequest(), cvm.NewDescribeZoneInstanceConfigInfosResponse()
	request.Filters = []*cvm.Filter{{
		Name:   pointer("instance-charge-type"),
		Values: pointers([]string{string(spotpool.Spot), string(spotpool.OnDemand)}),
	}}
	if _, err := c.api.call(ctx, c.keys, region, request, response); err != nil {
		return nil, err
	}
	offers := []spotpool.Offer{}
	if response.Response == nil {
		return offers, nil
	}
	for _, item := range response.Response.InstanceTypeQuotaSet {
		if item != nil {
			o := offerFrom(item)
			o.Currency = c.config.PriceCurrency()
			offers = append(offers, o)
		}
	}
	return offers, nil
}

func offerFrom(item *cvm.InstanceTypeQuotaItem) spotpool.Offer {
	o := spotpool.Offer{
		Market: spotpool.Market{
			AvailabilityZone: value(item.Zone), InstanceType: value(item.InstanceType),
			ChargeType: spotpool.ChargeType(value(item.InstanceChargeType)),
		},
		Stock:    stockOf(value(item.Status), value(item.StatusCategory)),
		VCPUs:    int(value(item.Cpu)),
		MemoryGB: int(value(item.Memory)),
		GPUType:  gpuType(value(item.InstanceType)),
	}
	switch {
	case value(item.GpuCount) > 0: // a share of a GPU is below 1
		o.GPUs = strconv.FormatFloat(*item.GpuCount, 'f', -1, 64)
	case value(item.Gpu) > 0:
		o.GPUs = strconv.FormatInt(*item.Gpu, 10)
	}
	if p := item.Price; p != nil {
		o.Price = spotpool.PriceFromFloat(value(p.UnitPriceDiscount)) // what is paid
		if p.UnitPriceDiscount == nil {
			o.Price = spotpool.PriceFromFloat(value(p.UnitPrice))
		}
	}
	return o
}

func stockOf(status, category string) spotpool.Stock {
	if status == "SOLD_OUT" {
		return spotpool.StockNone
	}
	switch category {
	case "EnoughStock":
		return spotpool.StockEnough
	case "NormalStock":
		return spotpool.StockNormal
	case "UnderStock":
		return spotpool.StockLow
	case "WithoutStock":
		return spotpool.StockNone
	}
	return spotpool.StockUnknown
}

// gpuTypes are the GPUs of the instance families (document 560/19700). The API
// names a family, never its GPU.
var gpuTypes = map[string]string{
	"GN7": "T4", "GN7vw": "T4", "GI3X": "T4",
	"GN8":  "P40",
	"GN10": "V100", "GN10X": "V100", "GN10Xp": "V100",
	"GT4":  "A100",
	"PNV4": "A10",
}

func gpuType(instanceType string) string {
	family, _, _ := strings.Cut(instanceType, ".")
	return gpuTypes[family]
}

// spotVCPUs asks for the account's spot quota. An error means that it is unknown.
func (c *Client) spotVCPUs(ctx context.Context, region string) (map[string]int, error) {
	request, response := cvm.NewDescribeAccountQuotaRequest(), cvm.NewDescribeAccountQuotaResponse()
	request.Filters = []*cvm.Filter{{Name: pointer("quota-type"), Values: pointers([]string{"SpotPaidQuotaSet"})}}
	if _, err := c.api.call(ctx, c.keys, region, request, response); err != nil {
		return nil, err
	}
	r := response.Response
	if r == nil || r.AccountQuotaOverview == nil || r.AccountQuotaOverview.AccountQuota == nil {
		return nil, errors.New("DescribeAccountQuota answered without a quota")
	}
	left := map[string]int{}
	for _, q := range r.AccountQuotaOverview.AccountQuota.SpotPaidQuotaSet {
		if q == nil || q.RemainingQuota == nil {
			continue
		}
		left[value(q.Zone)] = int(*q.RemainingQuota)
		// If a quota was lowered below the usage, less than nothing is left, and a terminated
		// instance makes no room.
		if q.UsedQuota != nil && q.TotalQuota != nil && *q.UsedQuota > *q.TotalQuota {
			left[value(q.Zone)] = -int(*q.UsedQuota - *q.TotalQuota)
		}
	}
	return left, nil
}

// namingRegion adds the region to an error about it that lacks it.
func namingRegion(err error, region string) error {
	if cloud, ok := spotpool.AsCloudError(err); ok && cloud.Class == errorclass.Configuration && !strings.Contains(cloud.Message, region) {
		cloud.Message = fmt.Sprintf("region %s: %s", region, cloud.Message)
	}
	return err
}
