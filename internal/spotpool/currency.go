package spotpool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Currency is the currency of an account's prices; empty if it is unknown. No response of
// Tencent Cloud names it.
type Currency string

// The currencies.
const (
	CNY Currency = "CNY" // of the Chinese site
	USD Currency = "USD" // of the international site
)

// CurrencyVariable is the environment variable with the currency of the account.
const CurrencyVariable = "GPUPOOL_CURRENCY"

// currencies are all of them. Accounts of an API host with a currency's label pay in it. Those of
// any other host pay in the first one.
var currencies = []struct {
	name  Currency
	label string
}{
	{name: CNY},
	{name: USD, label: "intl"},
}

// Currencies returns every currency.
func Currencies() []Currency {
	list := make([]Currency, len(currencies))
	for n, c := range currencies {
		list[n] = c.name
	}
	return list
}

// CurrencyNames returns the name of every currency.
func CurrencyNames() []string {
	names := make([]string, len(currencies))
	for n, c := range currencies {
		names[n] = string(c.name)
	}
	return names
}

// ParseCurrency parses the name of a currency, in any case.
func ParseCurrency(s string) (Currency, error) {
	c := Currency(strings.ToUpper(s))
	if !slices.Contains(Currencies(), c) {
		return "", fmt.Errorf("invalid currency %q (currency, --currency or "+CurrencyVariable+"): use %s", s, strings.Join(CurrencyNames(), " or "))
	}
	return c, nil
}

// Check refuses an unknown currency. None is a valid one.
func (c Currency) Check() error {
	if c == "" {
		return nil
	}
	_, err := ParseCurrency(string(c))
	return err
}

// CurrencyOf returns the currency of the accounts of an API host, or of a root domain.
func CurrencyOf(host string) Currency {
	labels := strings.Split(strings.ToLower(host), ".")
	for _, c := range currencies[1:] {
		if slices.Contains(labels, c.label) {
			return c.name
		}
	}
	return currencies[0].name
}

// Amount returns a price for people, "1.90 CNY".
func (c Currency) Amount(p Price) string {
	return strings.TrimSpace(p.String() + " " + string(c))
}

// Reason returns a price as an argument of a reason.
func (c Currency) Reason(p Price) reason.Price {
	return reason.Price{Amount: p.String(), Currency: string(c)}
}

// Hourly returns an hourly price for people, "1.90 CNY an hour".
func (c Currency) Hourly(p Price) string { return c.Amount(p) + " an hour" }

// CurrencyError says that a pool's prices are in another currency than those of the connection.
type CurrencyError struct {
	Object           string
	Pool, Connection Currency
}

// Because names both currencies.
func (e *CurrencyError) Because() reason.Reason {
	return reason.OtherCurrency(reason.Object(e.Object), reason.Word(e.Pool), reason.Word(e.Connection))
}

// Error is Because as text.
func (e *CurrencyError) Error() string { return e.Because().String() }

// CheckCurrency refuses prices in another currency than the pool's. A pool without one takes any.
func (d Declaration) CheckCurrency(observed Currency) error {
	if d.Currency == "" || observed == "" || d.Currency == observed {
		return nil
	}
	return &CurrencyError{Object: d.Object(), Pool: d.Currency, Connection: observed}
}

// Account is an account of Tencent Cloud.
type Account struct {
	ID       string
	Currency Currency // of its prices
}

// Cost is an hourly price in its currency.
type Cost struct {
	// The hourly price.
	Price Price `json:"hourly_price"`
	// The currency of the price.
	Currency Currency `json:"currency,omitempty"`
}

// In returns the price if it is in this currency, as far as both are known; else 0.
func (c Cost) In(currency Currency) Price {
	if c.Currency != "" && currency != "" && c.Currency != currency {
		return 0
	}
	return c.Price
}

// Cell returns the price for a column of prices, without its currency if they share one. It is empty if the price is
// unknown.
func (c Cost) Cell(shared Currency) string {
	if c.Price == 0 || shared != "" {
		return c.Price.Text()
	}
	return c.Currency.Amount(c.Price)
}

// SharedCurrency returns the currency of all known prices of rows; empty if they have several, or an
// unknown one.
func SharedCurrency[T any](rows []T, cost func(T) Cost) Currency {
	var known, all []Currency // of known prices, and of all rows
	for _, row := range rows {
		c := cost(row)
		if all = append(all, c.Currency); c.Price > 0 {
			known = append(known, c.Currency)
		}
	}
	if len(known) == 0 {
		known = all
	}
	if known = slices.Compact(known); len(known) != 1 {
		return ""
	}
	return known[0]
}

// Costs are sums by currency: two currencies are never added.
type Costs []Cost

// Add returns the sums with a cost added. Unknown prices add nothing.
func (list Costs) Add(c Cost) Costs {
	if c.Price == 0 {
		return list
	}
	sums := slices.Clone(list)
	n, found := slices.BinarySearchFunc(sums, c, func(a, b Cost) int { return cmp.Compare(a.Currency, b.Currency) })
	if !found {
		return slices.Insert(sums, n, c)
	}
	sums[n].Price += c.Price
	return sums
}
