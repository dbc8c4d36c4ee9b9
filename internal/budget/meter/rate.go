package meter

import (
	"math"
	"math/big"
	"math/bits"
)

// rate is a number of GPUs, exactly. It is small where both sides fit into 62
// bits, which leaves room to round, and wide where they don't.
type rate struct {
	num, den uint64
	wide     *big.Rat
}

// rateOf takes a number of GPUs; what is not above zero holds none.
func rateOf(n *big.Rat) rate {
	const room = 62
	switch {
	case n == nil || n.Sign() <= 0:
		return rate{den: 1}
	case n.Num().BitLen() <= room && n.Denom().BitLen() <= room:
		return rate{num: n.Num().Uint64(), den: n.Denom().Uint64()}
	}
	return rate{wide: n}
}

func (r rate) zero() bool { return r.num == 0 && r.wide == nil }

func (r rate) rat() *big.Rat {
	if r.wide != nil {
		return r.wide
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.num), new(big.Int).SetUint64(r.den))
}

// amount is what the rate uses in some milliseconds, in milli-GPU-seconds,
// rounded once and half up. What exceeds 63 bits is as much as they hold.
func (r rate) amount(ms int64) int64 {
	if ms <= 0 || r.zero() {
		return 0
	}
	if r.wide != nil {
		return roundRat(new(big.Rat).Mul(r.wide, new(big.Rat).SetInt64(ms)))
	}
	hi, lo := bits.Mul64(r.num, uint64(ms))
	if hi >= r.den {
		return math.MaxInt64
	}
	quotient, rest := lo, uint64(0)
	if hi > 0 || r.den > 1 {
		quotient, rest = bits.Div64(hi, lo, r.den)
	}
	if rest >= r.den-rest {
		quotient++
	}
	return int64(min(quotient, math.MaxInt64))
}

// mostParts is the maximum that one pod holds, in parts of a GPU. The sum of a million pods then fits into 63
// bits.
const mostParts = 1 << 43

// parts is the rate in whole parts of a GPU, of which a GPU has so many.
func (r rate) parts(gpu int64) int64 {
	if r.wide == nil {
		hi, lo := bits.Mul64(r.num, uint64(gpu))
		if hi >= r.den {
			return mostParts
		}
		whole, _ := bits.Div64(hi, lo, r.den)
		return int64(min(whole, mostParts))
	}
	of := new(big.Rat).Mul(r.wide, new(big.Rat).SetInt64(gpu))
	whole := new(big.Int).Quo(of.Num(), of.Denom())
	if !whole.IsInt64() {
		return mostParts
	}
	return min(whole.Int64(), mostParts)
}

// roundRat rounds half up to what 63 bits hold; n is not negative.
func roundRat(n *big.Rat) int64 {
	two := big.NewInt(2)
	num := new(big.Int).Mul(n.Num(), two)
	num.Add(num, n.Denom())
	num.Quo(num, new(big.Int).Mul(n.Denom(), two))
	if !num.IsInt64() {
		return math.MaxInt64
	}
	return num.Int64()
}

// plus adds amounts that are not negative, up to what 63 bits hold.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// wide is a signed sum of 128 bits, for products of time and rates.
type wide struct {
	hi int64
	lo uint64
}

// product multiplies two numbers of 64 bits.
func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	return wide{h, lo}
}

func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return wide{a.hi + b.hi + int64(carry), lo}
}

func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return wide{a.hi - b.hi - int64(borrow), lo}
}

func (a wide) below(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// over divides by a number above zero and rounds up; the sum is not negative and
// the quotient fits.
func (a wide) over(n int64) int64 {
	quotient, rest := bits.Div64(uint64(a.hi), a.lo, uint64(n))
	if rest > 0 {
		quotient++
	}
	return int64(quotient)
}

// floor divides by a number above zero and rounds down; the sum is not negative
// and the quotient fits.
func (a wide) floor(n int64) int64 {
	quotient, _ := bits.Div64(uint64(a.hi), a.lo, uint64(n))
	return int64(quotient)
}
