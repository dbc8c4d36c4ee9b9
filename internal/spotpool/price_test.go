package spotpool_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want spotpool.Price
		says string
	}{
		{"3.50", 3_500_000, "3.50"},
		{"3", 3_000_000, "3.00"},
		{"0.000001", 1, "0.000001"},
		{"0.123456", 123_456, "0.123456"},
		{"007.1", 7_100_000, "7.10"},
		{"1000000", 1_000_000_000_000, "1000000.00"},
	} {
		got, err := spotpool.ParsePrice(c.text)
		if err != nil || got != c.want || got.String() != c.says {
			t.Errorf("ParsePrice(%q) = %d (%s), %v; want %d (%s)", c.text, got, got, err, c.want, c.says)
		}
	}
	for _, text := range []string{
		"", " ", "0", "0.00", "-1", "+1", "1e3", "1.", ".5", "1.2345678", "1000000.000001", "99999999", "３", "1,5", "0x1", "NaN", "3.50 ", "¥3",
	} {
		if got, err := spotpool.ParsePrice(text); err == nil {
			t.Errorf("ParsePrice(%q) = %s, want an error", text, got)
		} else if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q does not name %q", err, text)
		}
	}
}

func TestPricesOfTheCloud(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]spotpool.Price{
		3.5: 3_500_000, 0.1: 100_000, 2.675: 2_675_000, 0.0000004: 0, 0: 0, -1: 0, 1e7: 0, math.Inf(1): 0, math.Inf(-1): 0,
	} {
		if got := spotpool.PriceFromFloat(f); got != want {
			t.Errorf("PriceFromFloat(%v) = %d, want %d", f, got, want)
		}
	}
	if got := spotpool.PriceFromFloat(math.NaN()); got != 0 {
		t.Errorf("PriceFromFloat(NaN) = %d, want 0", got)
	}
}

func TestPricesAsJSON(t *testing.T) {
	t.Parallel()
	// A sum of prices may be above what one price may be.
	for _, p := range []spotpool.Price{0, 1, 3_500_000, 25_000_000_000_000} {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		got := spotpool.Price(-1)
		if err := json.Unmarshal(data, &got); err != nil || got != p {
			t.Errorf("%d is written as %s and read as %d, %v", p, data, got, err)
		}
	}
	var p spotpool.Price
	for _, text := range []string{`3.5`, `"x"`, `{}`, `"-1"`, `"99999999999999999999"`} {
		if err := json.Unmarshal([]byte(text), &p); err == nil {
			t.Errorf("%s is read as %s, want an error", text, p)
		}
	}
}

func FuzzParsePrice(f *testing.F) {
	for _, text := range []string{"3.50", "0.000001", "1000000", "", "-1", "1e3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := spotpool.ParsePrice(text)
		if err != nil {
			return
		}
		if p <= 0 {
			t.Fatalf("ParsePrice(%q) = %d", text, p)
		}
		if again, err := spotpool.ParsePrice(p.String()); err != nil || again != p {
			t.Fatalf("ParsePrice(%q) = %s, which is read as %s, %v", text, p, again, err)
		}
	})
}
