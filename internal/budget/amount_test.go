package budget

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHoursAreRoundedHalfUp(t *testing.T) {
	t.Parallel()
	for amount, want := range map[int64]string{
		0: "0.000", 45_000_000: "12.500", 3_600_000: "1.000", 1799: "0.000", 1800: "0.001", 5399: "0.001", 5400: "0.002",
		-1800: "0.000", -1801: "-0.001", -3_600_000: "-1.000", math.MaxInt64: "2562047788015.216",
	} {
		if got := Hours(amount); got != want {
			t.Errorf("Hours(%d) = %q, want %q", amount, got, want)
		}
	}
}

func TestParseHours(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"100": 100 * Hour, "12.5": 45_000_000, "0.001": 3600, "1000000000": MaxGPUHours * Hour, "007.25": 26_100_000} {
		if got, err := ParseHours(text); err != nil || got != want {
			t.Errorf("ParseHours(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, said := range map[string]string{
		"": "no number", "-1": "no number", "+1": "no number", "1e3": "no number", "1.": "no number", ".5": "no number", "1,5": "no number", "NaN": "no number",
		"0": "must be above zero", "0.000": "must be above zero", "1.2345": "at most three", "1000000000.001": "out of range", "9999999999": "out of range", "99999999999": "out of range",
	} {
		if _, err := ParseHours(text); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("ParseHours(%q): %v; want %q", text, err, said)
		}
	}
}

func TestGPUsAreWrittenExactly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"2": "2", "1/2": "0.5", "1/8": "0.125", "1/7": "1/7", "1/16": "1/16", "0": "0", "100": "100", "15/7": "15/7"} {
		if got := GPUs(rat(text)); got != want {
			t.Errorf("GPUs(%s) = %q, want %q", text, got, want)
		}
	}
	for rate, want := range map[int64]string{1500: "1.5", 143: "0.143", 0: "0", 20_000: "20"} {
		if got := MilliGPUs(rate); got != want {
			t.Errorf("MilliGPUs(%d) = %q, want %q", rate, got, want)
		}
	}
}

// TestOneRoundingAnInterval holds the fast arithmetic to that of exact rationals.
func TestOneRoundingAnInterval(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gpus := big.NewRat(rapid.Int64Range(0, 1<<62).Draw(t, "numerator"), rapid.Int64Range(1, 1<<62).Draw(t, "denominator"))
		if rapid.Bool().Draw(t, "small") {
			gpus = big.NewRat(rapid.Int64Range(0, 5000).Draw(t, "numerator"), rapid.Int64Range(1, 300).Draw(t, "denominator"))
		}
		length := rapid.Int64Range(-5, 1<<40).Draw(t, "ms")
		want := int64(0)
		if length > 0 {
			want = roundRat(new(big.Rat).Mul(gpus, new(big.Rat).SetInt64(length)))
		}
		if got := rateOf(gpus).amount(length); got != want {
			t.Fatalf("%s GPUs for %d ms: %d, want %d", gpus.RatString(), length, got, want)
		}
	})
}

func TestAbsurdRatesStayWithinTheirRange(t *testing.T) {
	t.Parallel()
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 200))
	for _, gpus := range []*big.Rat{huge, new(big.Rat).SetInt64(math.MaxInt64), new(big.Rat).Inv(huge)} {
		if got := rateOf(gpus).amount(math.MaxInt64); got < 0 {
			t.Errorf("%s GPUs use %d", gpus.RatString(), got)
		}
	}
	if got := rateOf(big.NewRat(-8, 1)).amount(1000); got != 0 {
		t.Errorf("a negative quantity uses %d", got)
	}
	if got := plus(math.MaxInt64, 1); got != math.MaxInt64 {
		t.Errorf("a sum wrapped round to %d", got)
	}
}

func TestWideSums(t *testing.T) {
	t.Parallel()
	toBig := func(w wide) *big.Int {
		n := new(big.Int).Lsh(big.NewInt(w.hi), 64)
		return n.Add(n, new(big.Int).SetUint64(w.lo))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		c, d := rapid.Int64().Draw(t, "c"), rapid.Int64().Draw(t, "d")
		ab, cd := new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), new(big.Int).Mul(big.NewInt(c), big.NewInt(d))
		if got := toBig(product(a, b)); got.Cmp(ab) != 0 {
			t.Fatalf("%d × %d = %s", a, b, got)
		}
		if a == math.MinInt64 || b == math.MinInt64 || c == math.MinInt64 || d == math.MinInt64 {
			return
		}
		if got := toBig(product(a, b).plus(product(c, d))); got.Cmp(new(big.Int).Add(ab, cd)) != 0 {
			t.Fatalf("the sum is %s", got)
		}
		if got := toBig(product(a, b).minus(product(c, d))); got.Cmp(new(big.Int).Sub(ab, cd)) != 0 {
			t.Fatalf("the difference is %s", got)
		}
		if got := product(a, b).below(product(c, d)); got != (ab.Cmp(cd) < 0) {
			t.Fatalf("%s below %s: %t", ab, cd, got)
		}
		if n := rapid.Int64Range(1, math.MaxInt64).Draw(t, "n"); a > 0 {
			sum := product(a, n).minus(product(1, n-1))
			if got := sum.over(n); got != a {
				t.Fatalf("%s over %d is %d, want %d", toBig(sum), n, got, a)
			}
		}
	})
}
