package budget

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Hour is one GPU-hour in milli-GPU-seconds, the unit of all amounts. One unit is a GPU held
// for a millisecond.
const Hour int64 = 3_600_000

// MaxGPUHours bounds a limit, so that no sum of limits and rates overflows: more
// than a hundred thousand GPUs use in a year.
const MaxGPUHours = 1_000_000_000

// thousandth is a thousandth of a GPU-hour, the finest that is printed.
const thousandth = Hour / 1000

var hoursForm = regexp.MustCompile(`^0*([0-9]+)(?:\.([0-9]+))?$`)

// Hours prints an amount as GPU-hours with three decimals, rounded half up:
// 45,000,000 is "12.500".
func Hours(amount int64) string {
	thousandths := amount/thousandth + (amount%thousandth+thousandth/2)/thousandth
	if rest := amount % thousandth; rest < -thousandth/2 {
		thousandths--
	}
	sign := ""
	if thousandths < 0 {
		sign, thousandths = "-", -thousandths
	}
	return fmt.Sprintf("%s%d.%03d", sign, thousandths/1000, thousandths%1000)
}

// ParseHours reads GPU-hours: digits, and at most three of them after a point.
// The amount must be above zero and at most MaxGPUHours.
func ParseHours(s string) (int64, error) {
	parts := hoursForm.FindStringSubmatch(s)
	if parts == nil {
		return 0, fmt.Errorf("invalid number of GPU-hours %q: write digits such as \"100\" or \"12.5\"", s)
	}
	if len(parts[1]) > len(strconv.Itoa(MaxGPUHours)) {
		return 0, tooManyHours(s)
	}
	if len(parts[2]) > 3 {
		return 0, fmt.Errorf("%q has %d digits after the point: GPU-hours have at most three", s, len(parts[2]))
	}
	whole, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid number of GPU-hours %q: %w", s, err)
	}
	fraction, err := strconv.ParseInt((parts[2] + "000")[:3], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid number of GPU-hours %q: %w", s, err)
	}
	amount := whole*Hour + fraction*thousandth
	switch {
	case amount == 0:
		return 0, fmt.Errorf("%q GPU-hours are none: a limit must be above zero", s)
	case amount > MaxGPUHours*Hour:
		return 0, tooManyHours(s)
	}
	return amount, nil
}

func tooManyHours(s string) error {
	return fmt.Errorf("%q is out of range: a limit is at most %d GPU-hours", s, MaxGPUHours)
}

// GPUs prints a number of GPUs: the shortest exact decimal where three decimals
// are enough, else the fraction ("1/7").
func GPUs(n *big.Rat) string {
	if n == nil {
		return "0"
	}
	thousand := new(big.Rat).Mul(n, big.NewRat(1000, 1))
	if !thousand.IsInt() {
		return n.RatString()
	}
	return shortest(n.FloatString(3))
}

// MilliGPUs prints a rate in milli-GPUs as GPUs: 1500 is "1.5".
func MilliGPUs(rate int64) string {
	return shortest(big.NewRat(rate, 1000).FloatString(3))
}

// shortest drops the zeros that end a decimal.
func shortest(decimal string) string {
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// PartOf returns used as a number of equal parts of a whole, rounded half up. Less than the whole
// is never rounded to all parts.
func PartOf(used, whole, parts int64) int64 {
	// used*parts/whole + 1/2, which can overflow 64 bits
	double := new(big.Int).Mul(big.NewInt(used), big.NewInt(2*parts))
	double.Add(double, big.NewInt(whole))
	share := double.Quo(double, new(big.Int).Mul(big.NewInt(whole), big.NewInt(2))).Int64()
	if used < whole {
		return min(share, parts-1)
	}
	return share
}

// LargestFirst returns the names of amounts, the largest first.
func LargestFirst(amounts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(amounts), func(a, b string) int {
		return cmp.Or(cmp.Compare(amounts[b], amounts[a]), cmp.Compare(a, b))
	})
}

// Shares divides a number of parts among amounts, which are not negative. Each share is rounded down, and the
// remaining parts go to the largest remainders. Less than the sum never has all parts.
func Shares(amounts []int64, parts int64) []int64 {
	sum := new(big.Int)
	for _, amount := range amounts {
		sum.Add(sum, big.NewInt(amount))
	}
	shares, order, remainders := make([]int64, len(amounts)), make([]int, len(amounts)), make([]*big.Int, len(amounts))
	if sum.Sign() == 0 {
		return shares
	}
	left := parts
	for n, amount := range amounts {
		whole, remainder := new(big.Int).QuoRem(new(big.Int).Mul(big.NewInt(amount), big.NewInt(parts)), sum, new(big.Int))
		shares[n], order[n], remainders[n] = whole.Int64(), n, remainder
		left -= shares[n]
	}
	slices.SortStableFunc(order, func(a, b int) int { return remainders[b].Cmp(remainders[a]) })
	for _, n := range order {
		if left > 0 && shares[n] < parts-1 {
			shares[n]++
			left--
		}
	}
	return shares
}

// Percent returns the used part of a limit in percent, rounded down.
func Percent(used, limit int64) int64 {
	percent := new(big.Int).Mul(big.NewInt(used), big.NewInt(100))
	if percent.Quo(percent, big.NewInt(max(limit, 1))); !percent.IsInt64() {
		return math.MaxInt64
	}
	return percent.Int64()
}
