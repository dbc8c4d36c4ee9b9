package budget

import (
	"math"
	"math/big"
	"slices"
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
		"": "invalid number", "-1": "invalid number", "+1": "invalid number", "1e3": "invalid number",
		"1.": "invalid number", ".5": "invalid number", "1,5": "invalid number", "NaN": "invalid number",
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
		n, _ := new(big.Rat).SetString(text)
		if got := GPUs(n); got != want {
			t.Errorf("GPUs(%s) = %q, want %q", text, got, want)
		}
	}
	for rate, want := range map[int64]string{1500: "1.5", 143: "0.143", 0: "0", 20_000: "20"} {
		if got := MilliGPUs(rate); got != want {
			t.Errorf("MilliGPUs(%d) = %q, want %q", rate, got, want)
		}
	}
}

func TestSharesSumToTheWhole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ amounts, want []int64 }{
		{[]int64{0, 0}, []int64{0, 0}},
		{[]int64{5}, []int64{100}},
		{[]int64{505, 495}, []int64{51, 49}}, // 51 and 50 rounded half up
		{[]int64{335, 335, 330}, []int64{34, 33, 33}},
		{[]int64{9996, 4}, []int64{99, 1}},
		{[]int64{math.MaxInt64, math.MaxInt64}, []int64{50, 50}},
	} {
		if got := Shares(tt.amounts, 100); !slices.Equal(got, tt.want) {
			t.Errorf("%v: got %v, want %v", tt.amounts, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		sum := int64(0)
		amounts := rapid.SliceOfN(rapid.Int64Range(1, math.MaxInt64), 1, 20).Draw(t, "amounts")
		for _, share := range Shares(amounts, 1000) {
			sum += share
		}
		if sum != 1000 {
			t.Errorf("the shares of %v sum to %d", amounts, sum)
		}
	})
}
