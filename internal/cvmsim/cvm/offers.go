package cvm

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type describeZoneInstanceConfigInfosRequest struct {
	Filters []filterParams `json:"Filters,omitempty"`
}

type describeZoneInstanceConfigInfosResponse struct {
	InstanceTypeQuotaSet []wireOffer `json:"InstanceTypeQuotaSet"`
}

// wireOffer is an item of DescribeZoneInstanceConfigInfos (cvm models.go,
// InstanceTypeQuotaItem).
type wireOffer struct {
	Zone               string        `json:"Zone"`
	InstanceType       string        `json:"InstanceType"`
	InstanceChargeType string        `json:"InstanceChargeType"`
	NetworkCard        int64         `json:"NetworkCard"`
	Externals          struct{}      `json:"Externals"`
	CPU                int64         `json:"Cpu"`
	Memory             int64         `json:"Memory"`
	InstanceFamily     string        `json:"InstanceFamily"`
	TypeName           string        `json:"TypeName"`
	LocalDiskTypeList  []struct{}    `json:"LocalDiskTypeList"`
	Status             string        `json:"Status"`
	Price              wireUnitPrice `json:"Price"`
	SoldOutReason      string        `json:"SoldOutReason"`
	InstanceBandwidth  float64       `json:"InstanceBandwidth"`
	InstancePps        int64         `json:"InstancePps"`
	StorageBlockAmount int64         `json:"StorageBlockAmount"`
	CPUType            string        `json:"CpuType"`
	GPU                int64         `json:"Gpu"`
	Fpga               int64         `json:"Fpga"`
	Remark             string        `json:"Remark"`
	GPUCount           float64       `json:"GpuCount"`
	Frequency          string        `json:"Frequency"`
	StatusCategory     string        `json:"StatusCategory"`
}

// wireUnitPrice is the price by the hour, or for prepaid by the month.
type wireUnitPrice struct {
	UnitPrice         *float64 `json:"UnitPrice,omitempty"`
	UnitPriceDiscount *float64 `json:"UnitPriceDiscount,omitempty"`
	ChargeUnit        string   `json:"ChargeUnit,omitempty"`
	OriginalPrice     *float64 `json:"OriginalPrice,omitempty"`
	DiscountPrice     *float64 `json:"DiscountPrice,omitempty"`
	Discount          float64  `json:"Discount"`
}

// describeZoneInstanceConfigInfos returns price and stock of everything that a region sells.
func describeZoneInstanceConfigInfos(w *world.World, c *api.Call, p *describeZoneInstanceConfigInfosRequest) (*describeZoneInstanceConfigInfosResponse,
	*wire.Error) {
	filters, failure := readZoneFilters(c.Region, p.Filters, 100, "zone", "instance-family", "instance-type", "instance-charge-type", "sort-keys")
	if failure != nil {
		return nil, failure
	}
	set := []wireOffer{}
	for _, o := range w.Market.Offers(c.Region) {
		t := world.TypeByName[o.SKU.Type]
		if passes(filters, "zone", o.SKU.Zone) && passes(filters, "instance-family", t.Family()) &&
			passes(filters, "instance-type", t.Name) && passes(filters, "instance-charge-type", o.SKU.Charge) {
			set = append(set, renderOffer(o, t))
		}
	}
	return &describeZoneInstanceConfigInfosResponse{InstanceTypeQuotaSet: set}, sortOffers(set, valuesOf(filters, "sort-keys"))
}

func renderOffer(o *world.Offer, t *world.InstanceType) wireOffer {
	out := wireOffer{
		Zone: o.SKU.Zone, InstanceType: t.Name, InstanceChargeType: o.SKU.Charge, NetworkCard: 25,
		CPU: t.CPU, Memory: t.Memory, InstanceFamily: t.Family(), TypeName: t.TypeName, LocalDiskTypeList: []struct{}{},
		Status: "SELL", StatusCategory: o.Category(), InstanceBandwidth: 5, InstancePps: 70, CPUType: t.CPUModel,
		GPU: t.GPU, GPUCount: float64(t.GPU), Remark: t.GPUModel, Frequency: "-", Price: unitPrice(o, 1),
	}
	if o.Stock <= 0 {
		out.Status, out.SoldOutReason = "SOLD_OUT", "ResourcesSoldOut.SpecifiedInstanceType"
	}
	return out
}

// unitPrice returns the price of several instances: by the hour, or for prepaid by the month of 30
// days.
func unitPrice(o *world.Offer, count int64) wireUnitPrice {
	list, paid := (o.List * world.Money(count)).Float(), (o.Price * world.Money(count)).Float()
	out := wireUnitPrice{Discount: 100}
	if o.List > 0 {
		out.Discount = math.Round(float64(o.Price)/float64(o.List)*1000) / 10
	}
	if o.SKU.Charge == world.ChargePrepaid {
		list, paid = (o.List * world.Money(count) * 720).Float(), (o.Price * world.Money(count) * 720).Float()
		out.OriginalPrice, out.DiscountPrice = &list, &paid
		return out
	}
	out.UnitPrice, out.UnitPriceDiscount, out.ChargeUnit = &list, &paid, "HOUR"
	return out
}

// sortOffers applies sort keys such as "cpu:desc", the first one first.
func sortOffers(set []wireOffer, keys []string) *wire.Error {
	for _, key := range slices.Backward(keys) {
		name, direction, _ := strings.Cut(key, ":")
		var of func(wireOffer) int64
		switch name {
		case "cpu":
			of = func(o wireOffer) int64 { return o.CPU }
		case "mem":
			of = func(o wireOffer) int64 { return o.Memory }
		}
		if of == nil || direction != "asc" && direction != "desc" {
			return wire.Fail("InvalidFilter", "`sort-keys` has no value `%s`; they look like cpu:desc or mem:asc.", wire.Printable(key))
		}
		slices.SortStableFunc(set, func(a, b wireOffer) int {
			if direction == "desc" {
				a, b = b, a
			}
			return cmp.Compare(of(a), of(b))
		})
	}
	return nil
}
