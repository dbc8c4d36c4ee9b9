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
	// The totals of the spot pools.
	SpotPools PoolTotals `json:"spot_pools"`
	// The totals of the budgets.
	Budgets BudgetTotals `json:"budgets"`
	// The totals of the stock pools. Absent if there are none.
	StockPools *StockTotals `json:"stock_pools,omitempty"`
}

// PoolTotals count pools, each once, and their instances.
type PoolTotals struct {
	// Pools that are neither short nor failing.
	OK int `json:"ok"`
	// Pools below their minimum.
	Short int `json:"short"`
	// Pools that failed, or could not be observed.
	Failing int `json:"failing"`
	// Pools that could not be observed. The counts below are without theirs.
	Unobserved int `json:"unobserved"`
	// All instances of the pools.
	Total int `json:"total"`
	// Instances that work, or will soon.
	Capacity int `json:"capacity"`
	// The hourly price of all instances with a known price, a sum for each currency.
	HourlyPrices spotpool.Costs `json:"hourly_prices"`
}

// BudgetTotals count budgets, each once.
type BudgetTotals struct {
	// Budgets below their limit.
	OK int `json:"ok"`
	// Budgets at or above their limit.
	Exceeded int `json:"exceeded"`
	// Budgets that failed.
	Failing int `json:"failing"`
	// Budgets without a measurement, or with one that is too old or incomplete.
	Unknown int `json:"unknown"`
}

// StockTotals count stock pools, each once, and their pods.
type StockTotals struct {
	// Stock pools that are neither short nor failing.
	OK int `json:"ok"`
	// Stock pools with too few ready pods.
	Short int `json:"short"`
	// Stock pools that failed, or could not be observed.
	Failing int `json:"failing"`
	// Stock pools that could not be observed. The counts below are without theirs.
	Unobserved int `json:"unobserved"`
	// The desired number of pods.
	Desired int `json:"desired"`
	// Pods that are ready and not in use.
	Available int `json:"available"`
	// Pods in use.
	Allocated int `json:"allocated"`
}

// Failing reports whether a pool cannot be observed, or the last runs failed with it.
func Failing(p spotpools.Description) bool { return p.Failing != nil || p.Outcome == outcome.Failed }

// Short reports whether a pool lacks instances.
func Short(p spotpools.Description) bool {
	return p.Phase == declaration.Active && p.Counts != nil && p.Shortfall > 0
}

// FailingBudget reports whether the last runs failed with a budget, or its status is
// unreadable.
func FailingBudget(b budgets.Description) bool {
	return b.Failing != nil || b.Outcome == outcome.Failed
}

func (r StatusReport) totals() Totals {
	t := Totals{SpotPools: PoolTotals{HourlyPrices: spotpool.Costs{}}}
	for _, p := range r.SpotPools {
		if p.Counts == nil {
			t.SpotPools.Unobserved++
		} else {
			t.SpotPools.Total += p.Total
			t.SpotPools.Capacity += p.Capacity
			t.SpotPools.HourlyPrices = t.SpotPools.HourlyPrices.Add(p.Cost())
		}
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
		case b.UsageReport == nil, !b.Untrusted.IsZero():
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
	if p.Status == nil {
		t.Unobserved++
	} else {
		t.Desired += p.Desired
		t.Available += p.Available
		t.Allocated += p.Allocated
	}
	switch {
	case p.Failing != nil || p.Outcome == outcome.Failed:
		t.Failing++
	case p.Status != nil && (p.Phase == decide.Pending || p.Phase == decide.Degraded):
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
