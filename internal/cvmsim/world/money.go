package world

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in billionths of a CNY, so that no price of a client is rounded.
type Money int64

const yuan Money = 1_000_000_000

// StartBalance is the initial balance of the account.
const StartBalance = 1_000_000 * yuan

// Fen is an amount in hundredths of a yuan.
func Fen(n int64) Money { return Money(n) * yuan / 100 }

// ParseMoney parses a plain decimal with up to nine digits on either side.
func ParseMoney(text string) (Money, error) {
	whole, fraction, point := strings.Cut(text, ".")
	if whole == "" || len(whole) > 9 || len(fraction) > 9 || point && fraction == "" ||
		strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, errors.New("must be a decimal like \"3.50\"")
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
	if err != nil {
		return 0, err
	}
	return Money(n), nil
}

// String returns the shortest decimal with at least two decimals.
func (m Money) String() string {
	text := fmt.Sprintf("%d.%09d", m/yuan, m%yuan)
	for strings.HasSuffix(text, "0") && len(text)-strings.Index(text, ".") > 3 {
		text = text[:len(text)-1]
	}
	return text
}

// Float returns the amount as a JSON number of the API.
func (m Money) Float() float64 {
	f, _ := strconv.ParseFloat(m.String(), 64) // a decimal of our own making parses
	return f
}
