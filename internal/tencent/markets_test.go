package tencent

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
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
	market := spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot}
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
	m, err := client.Markets(t.Context(), testRegion)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := find(m.Offers, market)
	want := spotpool.Offer{Market: market, Price: 1_230_000, Currency: "CNY", Stock: got.Stock, VCPUs: 8, MemoryGB: 32, GPUs: "1", GPUType: "T4"}
	if diff := cmp.Diff(want, got); diff != "" || got.Stock == spotpool.StockNone || got.Stock == spotpool.StockUnknown {
		t.Error(diff, got.Stock)
	}
	market.AvailabilityZone = "ap-singapore-3"
	if soldOut, ok := find(m.Offers, market); !ok || soldOut.Stock != spotpool.StockNone {
		t.Errorf("%+v", soldOut)
	}
	market.ChargeType = spotpool.OnDemand
	if hourly, ok := find(m.Offers, market); !ok || hourly.Price == 0 {
		t.Errorf("%+v", hourly)
	}
	if m.SpotVCPUs["ap-singapore-2"] != 40 {
		t.Errorf("spot vCPUs: %v", m.SpotVCPUs)
	}
	if calls := client.Calls(); calls["DescribeZoneInstanceConfigInfos"] != 1 || calls["DescribeAccountQuota"] != 1 {
		t.Errorf("%v", calls)
	}
}

func TestMarketsOfARegionWithoutSpot(t *testing.T) {
	t.Parallel()
	url := answering(t, map[string]any{
		"DescribeZoneInstanceConfigInfos": map[string]any{"InstanceTypeQuotaSet": []any{
			nil, map[string]any{"Zone": "ap-x-1", "InstanceType": "S5.MEDIUM4", "InstanceChargeType": "POSTPAID_BY_HOUR"},
		}},
		"DescribeAccountQuota": map[string]any{},
	})
	m, err := newClient(t, testConfig(url)).Markets(t.Context(), "ap-x")
	if cloud := cloudError(t, err); cloud.Class != errorclass.Configuration || !strings.Contains(err.Error(), "ap-x") || cloud.Remedy.IsZero() ||
		len(m.Offers) != 1 {
		t.Errorf("%v, %v", err, m.Offers)
	}
}

func TestMarketsOfSaoPaulo(t *testing.T) {
	t.Parallel()
	_, client := startSim(t)
	m, err := client.Markets(t.Context(), "sa-saopaulo")
	if cloud := cloudError(t, err); cloud.Class != errorclass.Configuration || !strings.Contains(err.Error(), "sa-saopaulo") || len(m.Offers) == 0 {
		t.Errorf("%v, %d offers", err, len(m.Offers))
	}
}

func TestMarketsOfAnUnknownRegion(t *testing.T) {
	t.Parallel()
	_, client := startSim(t)
	for region, meant := range map[string]string{"oc-atlantis": "Check", "ap-singapur": `Did you mean "ap-singapore"?`} {
		_, err := client.Markets(t.Context(), region)
		cloud := cloudError(t, err)
		if cloud.Class != errorclass.Configuration || !strings.Contains(err.Error(), region) || !strings.HasPrefix(cloud.Remedy.String(), meant) {
			t.Errorf("%v", err)
		}
	}
}

// Prices and stock are kept. The quota is neither zero nor unlimited: it is unknown, with the
// reason.
func TestMarketsWithoutAQuota(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]cvmsim.Fault{
		"not allowed":      {Kind: cvmsim.FaultError, Code: "UnauthorizedOperation"},
		"not supported":    {Kind: cvmsim.FaultError, Code: "UnsupportedOperation"},
		"unheard of":       {Kind: cvmsim.FaultError, Code: "UnknownCode"},
		"always failing":   {Kind: cvmsim.FaultError, Code: "InternalError"},
		"always throttled": {Kind: cvmsim.FaultThrottle},
		"always HTTP 502":  {Kind: cvmsim.FaultHTTP502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t)
			fault.Action, fault.Count = "DescribeAccountQuota", -1
			addFault(t, sim, fault)
			m, err := client.Markets(t.Context(), testRegion)
			if err != nil || len(m.Offers) == 0 || m.SpotVCPUs != nil {
				t.Errorf("%d offers, %v, %v", len(m.Offers), m.SpotVCPUs, err)
			}
			if text := m.QuotaWarning(testRegion); !strings.HasPrefix(text.String(), "the spot quota of "+testRegion+" is unknown: DescribeAccountQuota: ") ||
				fault.Code != "" && !strings.Contains(text.String(), fault.Code) {
				t.Errorf("warning %q", text)
			}
		})
	}
}

func TestMarketsWithAnEmptyAnswerOfTheQuota(t *testing.T) {
	t.Parallel()
	url := answering(t, map[string]any{
		"DescribeZoneInstanceConfigInfos": map[string]any{"InstanceTypeQuotaSet": []any{map[string]any{
			"Zone": "ap-x-1", "InstanceType": "S5.MEDIUM4", "InstanceChargeType": "SPOTPAID",
		}}},
		"DescribeAccountQuota": map[string]any{},
	})
	m, err := newClient(t, testConfig(url)).Markets(t.Context(), "ap-x")
	if err != nil || len(m.Offers) != 1 || m.SpotVCPUs != nil || m.QuotaUnknown == nil {
		t.Errorf("%+v, %v", m, err)
	}
}

// An interrupted read is an error, not an unknown quota that would be kept.
func TestMarketsInterruptedWhileAskingForTheQuota(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultTimeout, Action: "DescribeAccountQuota", Count: -1})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for client.Calls()["DescribeAccountQuota"] == 0 {
			runtime.Gosched()
		}
		cancel()
	}()
	if m, err := client.Markets(ctx, testRegion); !errors.Is(err, context.Canceled) || m.QuotaUnknown != nil {
		t.Errorf("%+v, %v", m.QuotaUnknown, err)
	}
}

func TestOffersOfSharesAndUnknowns(t *testing.T) {
	t.Parallel()
	url := answering(t, map[string]any{
		"DescribeZoneInstanceConfigInfos": map[string]any{"InstanceTypeQuotaSet": []any{
			map[string]any{
				"Zone": "z-1", "InstanceType": "GN7.LARGE20", "InstanceChargeType": "SPOTPAID", "Gpu": 0, "GpuCount": 0.25, "Status": "SELL",
				"StatusCategory": "UnderStock", "Price": map[string]any{"UnitPrice": 4.0, "UnitPriceDiscount": 0.8},
			},
			map[string]any{
				"Zone": "z-1", "InstanceType": "NEW9.LARGE", "InstanceChargeType": "SPOTPAID", "Gpu": 2, "Status": "SELL", "StatusCategory": nil, "Price": nil,
			},
			map[string]any{
				"Zone": "z-1", "InstanceType": "NEW8.LARGE", "InstanceChargeType": "SPOTPAID", "Status": "SOLD_OUT", "StatusCategory": "EnoughStock",
				"Price": map[string]any{"UnitPrice": 2},
			},
			map[string]any{
				"Zone": "z-1", "InstanceType": "FREE1.LARGE", "InstanceChargeType": "SPOTPAID", "Status": "SELL", "StatusCategory": "EnoughStock",
				"Price": map[string]any{"UnitPrice": 2, "UnitPriceDiscount": 0}, // a price of 0 is unknown, and the list price is not paid
			},
		}},
		"DescribeAccountQuota": map[string]any{"AccountQuotaOverview": map[string]any{"AccountQuota": map[string]any{"SpotPaidQuotaSet": []any{
			nil, map[string]any{"Zone": "z-1", "RemainingQuota": 12},
			map[string]any{"Zone": "z-2", "RemainingQuota": 0, "UsedQuota": 40, "TotalQuota": 16},
		}}}},
	})
	m, err := newClient(t, testConfig(url)).Markets(t.Context(), "z")
	if err != nil || m.SpotVCPUs["z-1"] != 12 || m.SpotVCPUs["z-2"] != -24 {
		t.Fatal(m.SpotVCPUs, err)
	}
	market := func(instanceType string) spotpool.Market {
		return spotpool.Market{AvailabilityZone: "z-1", InstanceType: instanceType, ChargeType: spotpool.Spot}
	}
	want := []spotpool.Offer{
		{Market: market("GN7.LARGE20"), Price: 800_000, Currency: "CNY", Stock: spotpool.StockLow, GPUs: "0.25", GPUType: "T4"},
		{Market: market("NEW9.LARGE"), Currency: "CNY", GPUs: "2"},
		{Market: market("NEW8.LARGE"), Price: 2_000_000, Currency: "CNY", Stock: spotpool.StockNone},
		{Market: market("FREE1.LARGE"), Currency: "CNY", Stock: spotpool.StockEnough},
	}
	if diff := cmp.Diff(want, m.Offers); diff != "" {
		t.Error(diff)
	}
}
