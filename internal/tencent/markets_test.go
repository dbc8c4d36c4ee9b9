package tencent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func find(offers []spotpool.Offer, m spotpool.Market) (spotpool.Offer, bool) {
	for _, o := range offers {
		if o.Market == m {
			return o, true
		}
	}
	return spotpool.Offer{}, false
}

func TestMarkets(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	m := spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot}
	none, quota := int64(0), int64(40)
	for _, r := range []cvmsim.StockRequest{
		{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", VCPUQuota: &quota},
		{AvailabilityZone: "ap-singapore-3", InstanceType: "GN7.2XLARGE32", Stock: &none},
	} {
		if err := sim.SetStock(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := sim.SetPrice(cvmsim.PriceRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", Price: "1.23"}); err != nil {
		t.Fatal(err)
	}
	offers, left, err := client.Markets(t.Context(), testRegion)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := find(offers, m)
	want := spotpool.Offer{Market: m, Price: 1_230_000, Stock: got.Stock, VCPUs: 8, MemoryGB: 32, GPUs: "1", GPUType: "T4"}
	if diff := cmp.Diff(want, got); diff != "" || got.Stock == spotpool.StockNone || got.Stock == spotpool.StockUnknown {
		t.Error(diff, got.Stock)
	}
	m.AvailabilityZone = "ap-singapore-3"
	if soldOut, ok := find(offers, m); !ok || soldOut.Stock != spotpool.StockNone {
		t.Errorf("%+v", soldOut)
	}
	m.ChargeType = spotpool.OnDemand
	if hourly, ok := find(offers, m); !ok || hourly.Price == 0 {
		t.Errorf("%+v", hourly)
	}
	if left["ap-singapore-2"] != 40 {
		t.Errorf("spot vCPUs: %v", left)
	}
	if calls := client.Calls(); calls["DescribeZoneInstanceConfigInfos"] != 1 || calls["DescribeAccountQuota"] != 1 {
		t.Errorf("%v", calls)
	}
}

func TestMarketsOfARegionWithoutSpot(t *testing.T) {
	t.Parallel()
	url := answering(t, map[string]any{
		"DescribeZoneInstanceConfigInfos": map[string]any{"InstanceTypeQuotaSet": []any{nil, map[string]any{"Zone": "ap-x-1", "InstanceType": "S5.MEDIUM4", "InstanceChargeType": "POSTPAID_BY_HOUR"}}},
		"DescribeAccountQuota":            map[string]any{},
	})
	offers, _, err := newClient(t, testConfig(url)).Markets(t.Context(), "ap-x")
	if cloud := cloudError(t, err); cloud.Class != spotpool.ClassConfiguration || !strings.Contains(err.Error(), "ap-x") || cloud.Remedy == "" || len(offers) != 1 {
		t.Errorf("%v, %v", err, offers)
	}
}

func TestMarketsOfSaoPaulo(t *testing.T) {
	t.Parallel()
	_, client := startSim(t)
	offers, _, err := client.Markets(t.Context(), "sa-saopaulo")
	if cloud := cloudError(t, err); cloud.Class != spotpool.ClassConfiguration || !strings.Contains(err.Error(), "sa-saopaulo") || len(offers) == 0 {
		t.Errorf("%v, %d offers", err, len(offers))
	}
}

func TestMarketsOfAnUnknownRegion(t *testing.T) {
	t.Parallel()
	_, client := startSim(t)
	_, _, err := client.Markets(t.Context(), "ap-atlantis")
	if cloud := cloudError(t, err); cloud.Class != spotpool.ClassConfiguration || !strings.Contains(err.Error(), "ap-atlantis") {
		t.Errorf("%v", err)
	}
}

func TestMarketsWithoutTheRightToAskForQuotas(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation", Action: "DescribeAccountQuota"})
	offers, left, err := client.Markets(t.Context(), testRegion)
	if err != nil || len(offers) == 0 || left != nil {
		t.Errorf("%d offers, %v, %v", len(offers), left, err)
	}
}

func TestOffersOfSharesAndUnknowns(t *testing.T) {
	t.Parallel()
	url := answering(t, map[string]any{
		"DescribeZoneInstanceConfigInfos": map[string]any{"InstanceTypeQuotaSet": []any{
			map[string]any{"Zone": "z-1", "InstanceType": "GN7.LARGE20", "InstanceChargeType": "SPOTPAID", "Gpu": 0, "GpuCount": 0.25, "Status": "SELL", "StatusCategory": "UnderStock", "Price": map[string]any{"UnitPrice": 4.0, "UnitPriceDiscount": 0.8}},
			map[string]any{"Zone": "z-1", "InstanceType": "NEW9.LARGE", "InstanceChargeType": "SPOTPAID", "Gpu": 2, "Status": "SELL", "StatusCategory": nil, "Price": nil},
			map[string]any{"Zone": "z-1", "InstanceType": "NEW8.LARGE", "InstanceChargeType": "SPOTPAID", "Status": "SOLD_OUT", "StatusCategory": "EnoughStock", "Price": map[string]any{"UnitPrice": 2}},
		}},
		"DescribeAccountQuota": map[string]any{"AccountQuotaOverview": map[string]any{"AccountQuota": map[string]any{"SpotPaidQuotaSet": []any{nil, map[string]any{"Zone": "z-1", "RemainingQuota": 12}}}}},
	})
	offers, left, err := newClient(t, testConfig(url)).Markets(t.Context(), "z")
	if err != nil || left["z-1"] != 12 {
		t.Fatal(left, err)
	}
	market := func(instanceType string) spotpool.Market {
		return spotpool.Market{AvailabilityZone: "z-1", InstanceType: instanceType, ChargeType: spotpool.Spot}
	}
	want := []spotpool.Offer{
		{Market: market("GN7.LARGE20"), Price: 800_000, Stock: spotpool.StockLow, GPUs: "0.25", GPUType: "T4"},
		{Market: market("NEW9.LARGE"), GPUs: "2"},
		{Market: market("NEW8.LARGE"), Price: 2_000_000, Stock: spotpool.StockNone},
	}
	if diff := cmp.Diff(want, offers); diff != "" {
		t.Error(diff)
	}
}
