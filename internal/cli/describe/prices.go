package describe

import (
	"cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Prices is a column of hourly prices. Its title has their currency, if they share one. Otherwise
// each cell has its own.
type Prices struct{ shared spotpool.Currency }

// PricesOf returns the column of the prices of all rows.
func PricesOf[T any](rows []T, cost func(T) spotpool.Cost) Prices {
	return Prices{spotpool.SharedCurrency(rows, cost)}
}

// Title is the title of the column.
func (p Prices) Title() string {
	if p.shared == "" {
		return "PRICE/H"
	}
	return string(p.shared) + "/H"
}

// Cell is the cell of a price.
func (p Prices) Cell(c spotpool.Cost) string { return cmp.Or(c.Cell(p.shared), Price(0)) }
