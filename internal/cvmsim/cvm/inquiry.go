package cvm

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type inquiryPriceRunInstancesRequest struct {
	launch.Params
}

// About says what launch it is about.
func (p *inquiryPriceRunInstancesRequest) About() api.Subject { return aboutLaunch(p.Params) }

type inquiryPriceRunInstancesResponse struct {
	Price wirePrice `json:"Price"`
}

type wirePrice struct {
	InstancePrice  wireUnitPrice `json:"InstancePrice"`
	BandwidthPrice wireUnitPrice `json:"BandwidthPrice"`
}

// inquiryPriceRunInstances prices a launch, for all its instances together.
func inquiryPriceRunInstances(w *world.World, c *api.Call, p *inquiryPriceRunInstancesRequest) (*inquiryPriceRunInstancesResponse, *wire.Error) {
	for name, given := range map[string]bool{ // parameters of RunInstances that this action doesn't have
		"UserData": p.UserData != nil, "CamRoleName": p.CamRoleName != nil, "ActionTimer": p.ActionTimer != nil,
		"DisableApiTermination": p.DisableAPITermination != nil, "DisasterRecoverGroupIds": p.DisasterRecoverGroupIDs != nil,
	} {
		if given {
			return nil, wire.Unknown(name)
		}
	}
	params, failure := resolveTemplate(w, c.Region, p.Params)
	if failure != nil {
		return nil, failure
	}
	spec, failure := readLaunch(c.Region, params, c.Now)
	if failure != nil {
		return nil, failure
	}
	if failure := checkOffer(w, spec); failure != nil {
		return nil, failure
	}
	return &inquiryPriceRunInstancesResponse{Price: wirePrice{
		InstancePrice:  unitPrice(w.Offer(spec.SKU), spec.Count),
		BandwidthPrice: bandwidthPrice(spec),
	}}, nil
}

// Prices of the public network: by the GB, or by the Mbps and hour.
var (
	trafficPrice = world.Fen(80)
	mbpsPrice    = world.Fen(6)
)

func bandwidthPrice(s launchSpec) wireUnitPrice {
	price, unit := mbpsPrice*world.Money(s.Instance.Bandwidth)*world.Money(s.Count), "HOUR"
	if s.Instance.InternetChargeType == "TRAFFIC_POSTPAID_BY_HOUR" {
		price, unit = trafficPrice, "GB"
	}
	amount := price.Float()
	return wireUnitPrice{UnitPrice: &amount, UnitPriceDiscount: &amount, ChargeUnit: unit, Discount: 100}
}
