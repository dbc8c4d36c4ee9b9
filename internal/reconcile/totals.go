package reconcile

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Totals count all that a status is of.
type Totals struct {
	SpotPools PoolTotals   `json:"spot_pools"`
	Budgets   BudgetTotals `json:"budgets"`
	// StockPools is absent where none are declared.
	StockPools *StockTotals `json:"stock_pools,omitempty"`
}

// PoolTotals count pools, each once, and their instances.
type PoolTotals struct {
	OK       int `json:"ok"`
	Short    int `json:"short"`
	Failing  int `json:"failing"`
	Held     int `json:"held"`
	Capacity int `json:"capacity"`
	// HourlyPrice is that of all instances of which a price is known.
	HourlyPrice spotpool.Price `json:"hourly_price"`
}

// BudgetTotals count budgets, each once.
type BudgetTotals struct {
	OK       int `json:"ok"`
	Exceeded int `json:"exceeded"`
	Failing  int `json:"failing"`
	// Unknown are those that nobody judged yet, or whose status is not to be relied on.
	Unknown int `json:"unknown"`
}

// StockTotals count stock pools, each once, and their pods.
type StockTotals struct {
	OK        int `json:"ok"`
	Short     int `json:"short"` // of pods that are ready
	Failing   int `json:"failing"`
	Desired   int `json:"desired"`
	Available int `json:"available"`
	Allocated int `json:"allocated"`
}

// Failing reports whether a pool can't be seen, or the last runs failed with it.
func Failing(p spotpools.Description) bool { return p.Failing != nil || p.Outcome == outcome.Failed }

// Short reports whether a pool lacks instances.
func Short(p spotpools.Description) bool { return p.Phase == declaration.Active && p.Shortfall > 0 }

// FailingBudget reports whether the last runs failed with a budget, or what they made
// of it can't be read.
func FailingBudget(b budgets.Description) bool {
	return b.Failing != nil || b.Outcome == outcome.Failed
}

func (r StatusReport) totals() Totals {
	var t Totals
	for _, p := range r.SpotPools {
		t.SpotPools.Held += p.Held
		t.SpotPools.Capacity += p.Capacity
		t.SpotPools.HourlyPrice += p.HourlyPrice
		switch {
		case Failing(p):
			t.SpotPools.Failing++
		case Short(p):
			t.SpotPools.Short++
		default:
			t.SpotPools.OK++
		}
	}
	for _, b := range r.Budgets {
		switch {
		case FailingBudget(b):
			t.Budgets.Failing++
		case b.IsExceeded():
			t.Budgets.Exceeded++
		case b.UsageReport == nil, b.Untrusted != "":
			t.Budgets.Unknown++
		default:
			t.Budgets.OK++
		}
	}
	for _, p := range r.StockPools {
		if t.StockPools == nil {
			t.StockPools = &StockTotals{}
		}
		t.StockPools.add(p)
	}
	return t
}

func (t *StockTotals) add(p stockpools.Description) {
	t.Desired += p.Desired
	t.Available += p.Available
	t.Allocated += p.Allocated
	switch {
	case p.Failing != nil || p.Outcome == outcome.Failed:
		t.Failing++
	case p.Phase == decide.Pending || p.Phase == decide.Degraded:
		t.Short++
	default:
		t.OK++
	}
}

// Trouble reports whether anything is short, failing, exceeded, or lacks its record.
func (r StatusReport) Trouble() bool {
	t := r.Totals
	if s := t.StockPools; s != nil && s.Short+s.Failing > 0 {
		return true
	}
	return r.Failing != nil || r.LastRunLost || r.Orphans > 0 || t.SpotPools.Short+t.SpotPools.Failing+t.Budgets.Exceeded+t.Budgets.Failing > 0
}
