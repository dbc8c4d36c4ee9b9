package describe_test

import (
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestPricesNameTheirCurrencyOnce(t *testing.T) {
	t.Parallel()
	cny, usd := spotpool.Cost{Price: 1_900_000, Currency: "CNY"}, spotpool.Cost{Price: 300_000, Currency: "USD"}
	unknown, unnamed := spotpool.Cost{Currency: "CNY"}, spotpool.Cost{Price: 2_000_000}
	for name, test := range map[string]struct {
		rows []spotpool.Cost
		want []string
	}{
		"one currency":     {[]spotpool.Cost{cny, unknown, cny}, []string{"CNY/H", "1.90", "-", "1.90"}},
		"two currencies":   {[]spotpool.Cost{cny, usd, unknown}, []string{"PRICE/H", "1.90 CNY", "0.30 USD", "-"}},
		"no price":         {[]spotpool.Cost{unknown}, []string{"CNY/H", "-"}},
		"no currency":      {[]spotpool.Cost{unnamed}, []string{"PRICE/H", "2.00"}},
		"one with and one": {[]spotpool.Cost{unnamed, usd}, []string{"PRICE/H", "2.00", "0.30 USD"}},
		"no rows":          {nil, []string{"PRICE/H"}},
	} {
		prices := describe.PricesOf(test.rows, func(c spotpool.Cost) spotpool.Cost { return c })
		got := []string{prices.Title()}
		for _, c := range test.rows {
			got = append(got, prices.Cell(c))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
