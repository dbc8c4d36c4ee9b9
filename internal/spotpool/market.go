package spotpool

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Market is a combination that has its own price and stock.
type Market struct {
	// The availability zone.
	AvailabilityZone string `json:"availability_zone"`
	// The instance type. Empty for all types of the zone.
	InstanceType string `json:"instance_type"`
	// The charge type.
	ChargeType ChargeType `json:"charge_type"`
}

// String returns "GN7.2XLARGE32 in ap-singapore-2".
func (m Market) String() string { return m.InstanceType + " in " + m.AvailabilityZone }

// AnyCharge returns the market without its charge type, as a key.
func (m Market) AnyCharge() Market {
	m.ChargeType = ""
	return m
}

// Market returns the offering's market.
func (o Offering) Market(charge ChargeType) Market {
	return Market{AvailabilityZone: o.AvailabilityZone, InstanceType: o.InstanceType, ChargeType: charge}
}

// Market returns the instance's market.
func (i Instance) Market() Market {
	return Market{AvailabilityZone: i.AvailabilityZone, InstanceType: i.InstanceType, ChargeType: i.ChargeType}
}

// HistoryOffering returns the market in a subnet, for events.
func (m Market) HistoryOffering(subnetID string) history.Offering {
	return history.Offering{AvailabilityZone: m.AvailabilityZone, InstanceType: m.InstanceType, SubnetID: subnetID}
}

// Stock is how much of a market Tencent Cloud reports to have.
type Stock string

// The stock levels.
const (
	StockUnknown Stock = ""
	StockEnough  Stock = "enough"
	StockNormal  Stock = "normal"
	StockLow     Stock = "low"
	StockNone    Stock = "sold_out"
)

// Offer is the price and the stock of a market at one time.
type Offer struct {
	Market
	// The hourly price. Null if unknown.
	Price Price `json:"price"`
	// The currency of the price.
	Currency Currency `json:"currency,omitempty"`
	// The stock, as Tencent Cloud reports it. A launch may still fail.
	Stock Stock `json:"stock,omitempty"`
	// The vCPUs of an instance.
	VCPUs int `json:"vcpus,omitempty"`
	// The memory of an instance, in GB.
	MemoryGB int `json:"memory_gb,omitempty"`
	// The GPUs of an instance, a decimal number.
	GPUs string `json:"gpus,omitempty"`
	// The GPU model.
	GPUType string `json:"gpu_type,omitempty"`
}

// Markets is what Tencent Cloud sells in a region, and how much of it the account may still
// launch, at one time.
type Markets struct {
	Offers []Offer
	// SpotVCPUs is how many vCPUs the account may still launch as spot instances, by zone;
	// nil if that is unknown.
	SpotVCPUs map[string]int
	// QuotaUnknown says why SpotVCPUs is nil. Launches then depend only on price and stock,
	// and may be refused for the quota.
	QuotaUnknown error
}

// QuotaWarning says why the region's spot quota is unknown; zero if it is known.
func (m Markets) QuotaWarning(region string) reason.Reason {
	if m.QuotaUnknown == nil {
		return reason.Reason{}
	}
	return reason.SpotQuotaUnknown(reason.Word(region), reason.Failure(m.QuotaUnknown))
}

// OffersByMarket indexes offers by market. If a market has several, the first counts.
func OffersByMarket(offers []Offer) map[Market]Offer {
	index := make(map[Market]Offer, len(offers))
	for _, offer := range offers {
		if _, twice := index[offer.Market]; !twice {
			index[offer.Market] = offer
		}
	}
	return index
}
