// Package weight reads what a unit of something is worth, in GPUs, wherever one
// is asked for: in budgets, functions and flags alike. What is worth how much
// lives elsewhere.
package weight

import (
	"fmt"
	"math/big"
	"regexp"
)

var form = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9}|/[0-9]{1,9})?$`)

// Parse reads a weight: "1", "0.5" or "1/7". It is exact and never negative;
// both sides of it have at most nine digits.
func Parse(s string) (*big.Rat, error) {
	if !form.MatchString(s) {
		return nil, fmt.Errorf("invalid weight %q: use a number such as \"1\" or \"0.5\", or a fraction such as \"1/7\". Both sides have at most "+
			"nine digits", clip(s))
	}
	weight, ok := new(big.Rat).SetString(s)
	if !ok { // of what the form lets through, a division by zero alone
		return nil, fmt.Errorf("invalid weight %q: division by zero", s)
	}
	return weight, nil
}

// clip keeps a text from filling an error message.
func clip(s string) string {
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}
