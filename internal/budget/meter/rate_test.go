package meter

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

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
func consumed(t rapid.TB, d budget.Declaration, r *ledger.Record) int64 {
	t.Helper()
	m, err := New(d, noon, nil, time.LoadLocation)
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
