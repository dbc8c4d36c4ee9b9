package budget

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
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
		"0": "must be above zero", "0.000": "must be above zero", "1.2345": "at most three", "1000000000.001": "out of range", "9999999999": "out of range",
		"99999999999": "out of range",
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
	d := teamA()
	d.Window = "400d"
	rapid.Check(t, func(t *rapid.T) {
		gpus := big.NewRat(rapid.Int64Range(0, 1<<62).Draw(t, "numerator"), rapid.Int64Range(1, 1<<62).Draw(t, "denominator"))
		if rapid.Bool().Draw(t, "small") {
			gpus = big.NewRat(rapid.Int64Range(0, 5000).Draw(t, "numerator"), rapid.Int64Range(1, 300).Draw(t, "denominator"))
		}
		length := rapid.Int64Range(-5, 400*24*3_600_000).Draw(t, "ms")
		r := record("pod", "1", ms(noon)-ledger.Time(length), ms(noon))
		r.Allocation.Shares[0].Units = gpus
		want := new(big.Int)
		if length > 0 {
			exact := new(big.Rat).Mul(gpus, new(big.Rat).SetInt64(length))
			exact.Add(exact, big.NewRat(1, 2))
			want.Quo(exact.Num(), exact.Denom())
		}
		if most := big.NewInt(math.MaxInt64); want.Cmp(most) > 0 {
			want = most
		}
		if got := consumed(t, d, r); got != want.Int64() {
			t.Fatalf("%s GPUs for %d ms: %d, want %s", gpus.RatString(), length, got, want)
		}
	})
}

// consumed is what one pod uses, by its meter.
func consumed(t rapid.TB, d Declaration, r *ledger.Record) int64 {
	t.Helper()
	m, err := d.Meter(noon, nil, time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	used, _ := m.Pod(r)
	return used.Consumed
}

func TestAbsurdRatesStayWithinTheirRange(t *testing.T) {
	t.Parallel()
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 200))
	of := func(gpus *big.Rat) *ledger.Record {
		r := record("pod", "1", ago(24*time.Hour), 0)
		r.Allocation.Shares[0].Units = gpus
		return r
	}
	for _, gpus := range []*big.Rat{huge, new(big.Rat).SetInt64(math.MaxInt64), new(big.Rat).Inv(huge)} {
		if got := consumed(t, teamA(), of(gpus)); got < 0 {
			t.Errorf("%s GPUs use %d", gpus.RatString(), got)
		}
	}
	if got := consumed(t, teamA(), of(big.NewRat(-8, 1))); got != 0 {
		t.Errorf("a negative quantity uses %d", got)
	}
	if u := judged(t, teamA(), observed(), noon, of(huge), of(huge)).Usage; u.Consumed != math.MaxInt64 {
		t.Errorf("a sum wrapped round to %d", u.Consumed)
	}
}
