package cvmsim

type inquiryPriceRunInstancesRequest struct {
	launchParams
}

// About says what launch it is about.
func (p *inquiryPriceRunInstancesRequest) About() subject { return aboutLaunch(p.launchParams) }

type inquiryPriceRunInstancesResponse struct {
	Price wirePrice `json:"Price"`
}

type wirePrice struct {
	InstancePrice  wireUnitPrice `json:"InstancePrice"`
	BandwidthPrice wireUnitPrice `json:"BandwidthPrice"`
}

// inquiryPriceRunInstances prices a launch, for all its instances together.
func inquiryPriceRunInstances(w *world, c *call, p *inquiryPriceRunInstancesRequest) (*inquiryPriceRunInstancesResponse, *apiError) {
	for name, given := range map[string]bool{ // parameters of RunInstances that this action doesn't have
		"UserData": p.UserData != nil, "CamRoleName": p.CamRoleName != nil, "ActionTimer": p.ActionTimer != nil,
		"DisableApiTermination": p.DisableAPITermination != nil, "DisasterRecoverGroupIds": p.DisasterRecoverGroupIDs != nil,
	} {
		if given {
			return nil, unknown(name)
		}
	}
	params, failure := resolveTemplate(w, c.Region, p.launchParams)
	if failure != nil {
		return nil, failure
	}
	spec, failure := readLaunch(c.Region, params, c.now)
	if failure != nil {
		return nil, failure
	}
	if failure := checkOffer(w, spec); failure != nil {
		return nil, failure
	}
	return &inquiryPriceRunInstancesResponse{Price: wirePrice{
		InstancePrice:  unitPrice(w.offer(spec.sku), spec.count),
		BandwidthPrice: bandwidthPrice(spec),
	}}, nil
}

// Prices of the public network: by the GB, or by the Mbps and hour.
var (
	trafficPrice = fen(80)
	mbpsPrice    = fen(6)
)

func bandwidthPrice(s launchSpec) wireUnitPrice {
	price, unit := mbpsPrice*money(s.template.Bandwidth)*money(s.count), "HOUR"
	if s.template.InternetChargeType == "TRAFFIC_POSTPAID_BY_HOUR" {
		price, unit = trafficPrice, "GB"
	}
	amount := price.float()
	return wireUnitPrice{UnitPrice: &amount, UnitPriceDiscount: &amount, ChargeUnit: unit, Discount: 100}
}
