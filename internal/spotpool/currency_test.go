package spotpool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestCurrencyOfAHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]spotpool.Currency{
		"tencentcloudapi.com": "CNY", "internal.tencentcloudapi.com": "CNY", "127.0.0.1": "CNY", "": "CNY", "international.example.com": "CNY",
		"intl.tencentcloudapi.com": "USD", "cvm.intl.tencentcloudapi.com": "USD", "INTL.tencentcloudapi.com": "USD",
	} {
		if got := spotpool.CurrencyOf(host); got != want {
			t.Errorf("%q is priced in %s, want %s", host, got, want)
		}
	}
}

func TestParseCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range spotpool.Currencies() {
		for _, text := range []string{string(c), strings.ToLower(string(c))} {
			if got, err := spotpool.ParseCurrency(text); got != c || err != nil {
				t.Errorf("%s is read as %q (%v)", text, got, err)
			}
		}
	}
	for _, text := range []string{"", "EUR", "CNY "} {
		if got, err := spotpool.ParseCurrency(text); err == nil || !strings.Contains(err.Error(), "use CNY or USD") {
			t.Errorf("%q is read as %q (%v)", text, got, err)
		}
	}
}

func TestPricesNameTheirCurrency(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		spotpool.Currency("USD").Hourly(yuan("0.3")): "0.30 USD an hour", spotpool.Currency("CNY").Amount(yuan("12")): "12.00 CNY",
		spotpool.Currency("").Hourly(yuan("1.9")): "1.90 an hour",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSumsAddNoTwoCurrencies: for each currency, the sum is that of its own prices.
func TestSumsAddNoTwoCurrencies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) spotpool.Cost {
			return spotpool.Cost{
				Price:    spotpool.Price(rapid.Int64Range(0, 9).Draw(t, "price")),
				Currency: rapid.SampledFrom(append(spotpool.Currencies(), "")).Draw(t, "currency"),
			}
		})).Draw(t, "costs")
		want := map[spotpool.Currency]spotpool.Price{}
		var sums spotpool.Costs
		for _, c := range costs {
			if c.Price > 0 {
				want[c.Currency] += c.Price
			}
			sums = sums.Add(c)
		}
		got := map[spotpool.Currency]spotpool.Price{}
		for _, c := range sums {
			got[c.Currency] += c.Price
		}
		if diff := cmp.Diff(want, got); diff != "" || len(sums) != len(want) {
			t.Fatalf("%v of %v (-want +got)\n%s", sums, costs, diff)
		}
	})
}

func TestSharedCurrency(t *testing.T) {
	t.Parallel()
	cny, usd := spotpool.Cost{Price: 1, Currency: "CNY"}, spotpool.Cost{Price: 1, Currency: "USD"}
	free := spotpool.Cost{Currency: "USD"}
	for _, test := range []struct {
		costs []spotpool.Cost
		want  spotpool.Currency
	}{
		{nil, ""}, {[]spotpool.Cost{cny, cny, free}, "CNY"}, {[]spotpool.Cost{cny, usd}, ""}, {[]spotpool.Cost{free}, "USD"},
		{[]spotpool.Cost{{Price: 1}, cny}, ""}, {[]spotpool.Cost{cny, {Price: 1}}, ""},
	} {
		if got := spotpool.SharedCurrency(test.costs, func(c spotpool.Cost) spotpool.Cost { return c }); got != test.want {
			t.Errorf("%v share %q, want %q", test.costs, got, test.want)
		}
	}
}

// TestAStoredCurrencyIsOptional: records from before it have none.
func TestAStoredCurrencyIsOptional(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(pool(func(d *spotpool.Declaration) { d.Currency = "" }))
	if err != nil || strings.Contains(string(data), "currency") {
		t.Errorf("%s (%v)", data, err)
	}
}

func TestCheckCurrency(t *testing.T) {
	t.Parallel()
	d := pool()
	if err := d.CheckCurrency("CNY"); err != nil {
		t.Error(err)
	}
	const want = "spot_pool/ap-singapore/train has its prices in CNY, and this connection in USD: nothing was changed. Set the currency to CNY " +
		"(currency or GPUPOOL_CURRENCY). If the account pays in USD, apply the pool again: max_hourly_cost and spot_max_price are then in USD"
	if err := d.CheckCurrency("USD"); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	d.Currency = ""
	if err := d.CheckCurrency("USD"); err != nil {
		t.Error(err)
	}
}
