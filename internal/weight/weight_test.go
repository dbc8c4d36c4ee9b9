package weight_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

func TestWeightsAreExactAndNeverNegative(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*big.Rat{
		"1": big.NewRat(1, 1), "0.5": big.NewRat(1, 2), "1/7": big.NewRat(1, 7), "0": new(big.Rat), "0.250": big.NewRat(1, 4),
		"123456789": big.NewRat(123456789, 1), "1/123456789": big.NewRat(1, 123456789), "0.000000001": big.NewRat(1, 1_000_000_000),
	} {
		if got, err := weight.Parse(text); err != nil || got.Cmp(want) != 0 {
			t.Errorf("Parse(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1/0", "1/-7", "1e9", "0x1", "1/2/3", "1.5/2", "1234567890", "Inf", "NaN", " 1", "one", "1/1234567890"} {
		if got, err := weight.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		}
	}
	if _, err := weight.Parse(strings.Repeat("1", 10_000)); err == nil || len(err.Error()) > 300 {
		t.Errorf("the error of a long weight has %d characters", len(err.Error()))
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1", "0.5", "1/7", "0/1", "1/0", "999999999/999999999", "1/1/1", ".", "-1", "1e9", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := weight.Parse(text)
		if err == nil && (w.Sign() < 0 || w.Num().BitLen() > 60 || w.Denom().BitLen() > 60) {
			t.Fatalf("%q is %s", text, w)
		}
	})
}
