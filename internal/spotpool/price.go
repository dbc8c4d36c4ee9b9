package spotpool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Price is an hourly price in the currency of its account, in millionths, so that sums and
// comparisons are exact. Zero means that no price is known.
type Price int64

const (
	priceDigits = 6
	priceUnit   = 1_000_000
	// maxPriceWhole keeps a price times the largest pool well inside an int64.
	maxPriceWhole = 1_000_000
)

var priceForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,6})?$`)

// ParsePrice parses a decimal such as "3.50", above zero and at most one million. It has at
// most six digits after the point, no sign and no exponent.
func ParsePrice(s string) (Price, error) {
	p, err := parseSum(s)
	if err != nil {
		return 0, err
	}
	if p == 0 || p > maxPriceWhole*priceUnit {
		return 0, fmt.Errorf("the price %q is out of range: it must be above 0 and at most %d an hour", s, maxPriceWhole)
	}
	return p, nil
}

// parseSum parses a price, or a sum of prices, of any size.
func parseSum(s string) (Price, error) {
	if !priceForm.MatchString(s) {
		return 0, fmt.Errorf("invalid price %q: write the price an hour as a plain decimal such as \"3.50\", with at most %d digits after the point", s,
			priceDigits)
	}
	whole, fraction, _ := strings.Cut(s, ".")
	units, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", priceDigits-len(fraction)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid price %q: %w", s, err)
	}
	return Price(units), nil
}

// PriceFromFloat rounds a price in a response to millionths. Anything that is not above zero
// becomes the unknown price.
func PriceFromFloat(f float64) Price {
	if !(f > 0) || f > maxPriceWhole {
		return 0
	}
	return Price(f*priceUnit + 0.5)
}

// String writes the price as a decimal with at least two digits after the
// point, "3.50" or "0.123456".
func (p Price) String() string {
	s := fmt.Sprintf("%d.%06d", p/priceUnit, p%priceUnit)
	for strings.HasSuffix(s, "0") && len(s)-strings.IndexByte(s, '.') > 3 {
		s = s[:len(s)-1]
	}
	return s
}

// MarshalJSON writes the price as a decimal string, and an unknown price as null.
func (p Price) MarshalJSON() ([]byte, error) {
	if p == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(p.String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Price) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("a price must be a decimal string: %w", err)
	}
	if s == nil {
		*p = 0
		return nil
	}
	parsed, err := parseSum(*s)
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// Text returns the price for events; empty if it is unknown.
func (p Price) Text() string {
	if p == 0 {
		return ""
	}
	return p.String()
}
