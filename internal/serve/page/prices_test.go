package page

import (
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestPricesOfTwoCurrenciesNameTheirs(t *testing.T) {
	t.Parallel()
	pool := func(name string, price spotpool.Price, currency spotpool.Currency) spotpools.Description {
		return spotpools.Description{Report: spotpools.Report{
			Name: name, Region: "ap-singapore", Currency: currency, Counts: &spotpool.Counts{HourlyPrice: price},
		}}
	}
	train, infer, idle := pool("train", 1_900_000, "CNY"), pool("infer", 300_000, "USD"), pool("idle", 0, "USD")
	for name, test := range map[string]struct {
		pools []spotpools.Description
		want  []string
	}{
		"one": {[]spotpools.Description{train, idle}, []string{"CNY/h", "1.90", "-"}},
		"two": {[]spotpools.Description{train, infer, idle}, []string{"Price/h", "1.90 CNY", "0.30 USD", "-"}},
	} {
		l := spotPoolList(test.pools)
		got := []string{l.Columns[len(l.Columns)-1]}
		for _, r := range l.Rows {
			got = append(got, r.Cells[len(r.Cells)-1].Text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
