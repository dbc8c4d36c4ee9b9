package budget

import (
	"math/big"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// project says when a budget is used up at the present rate where that follows
// from what was used and what burns, and else leaves it to a sweep: so where the
// limit is reached already, and in a rolling window, which usage leaves as well.
func (e *evaluation) project(a *audience, r *Result, burn *big.Rat) {
	u := &r.Usage
	switch {
	case u.Exceeded():
		e.sweep(a, r)
	case burn.Sign() == 0:
	case a.rolling > 0:
		// Nothing is reached where all that is used stayed and were not enough.
		most := new(big.Rat).Mul(burn, new(big.Rat).SetInt64(int64(a.rolling)))
		most.Add(most, new(big.Rat).SetInt64(plus(u.Consumed, int64(u.TrackedPods))))
		if most.Cmp(new(big.Rat).SetInt64(u.Limit)) >= 0 {
			e.sweep(a, r)
		}
	default:
		left := new(big.Rat).SetInt64(a.window.End.UnixMilli() - int64(e.now))
		lasts := new(big.Rat).Quo(new(big.Rat).SetInt64(u.Limit-(u.Consumed-u.Unshown)), burn)
		if lasts.Cmp(left) < 0 {
			at := toTime(e.now + ledger.Time(ceil(lasts)))
			u.ProjectedExhaustion = &at
		}
	}
}

// ceil rounds up what is not negative and fits.
func ceil(n *big.Rat) int64 {
	quotient, rest := new(big.Int).QuoRem(n.Num(), n.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		return quotient.Int64() + 1
	}
	return quotient.Int64()
}
