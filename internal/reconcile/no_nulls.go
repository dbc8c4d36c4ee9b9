package reconcile

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
)

// NoNulls returns the report with empty lists, which are [] in JSON, instead of nil ones. Lists of what
// could not be observed stay nil, and are absent in JSON.
func (r StatusReport) NoNulls() StatusReport {
	r.SpotPools = slices.Clone(r.SpotPools)
	for n := range r.SpotPools {
		noNulls(&r.SpotPools[n])
	}
	return r
}

// NoNulls returns the explanation with empty lists, which are [] in JSON, instead of nil ones. Lists of
// what could not be observed stay nil, and are absent in JSON.
func (x Explanation) NoNulls() Explanation {
	x.SpotPools, x.Budgets, x.StockPools = slices.Clone(x.SpotPools), slices.Clone(x.Budgets), slices.Clone(x.StockPools)
	for n := range x.SpotPools {
		p := &x.SpotPools[n]
		if noNulls(p); p.Counts == nil {
			continue
		}
		orEmpty(&p.Offerings)
		orEmpty(&p.Standings)
	}
	for n := range x.StockPools {
		p := &x.StockPools[n]
		if p.Status == nil {
			continue
		}
		orEmpty(&p.Decisions)
		orEmpty(&p.Budgets)
		orEmpty(&p.Standings)
		orEmpty(&p.Writers)
	}
	for n := range x.Budgets {
		b := &x.Budgets[n]
		if orEmpty(&b.Thresholds); b.UsageReport != nil {
			orEmpty(&b.Next)
		}
	}
	return x
}

func noNulls(p *spotpools.Description) {
	if p.Counts == nil {
		return
	}
	orEmpty(&p.Decisions)
	orEmpty(&p.Machines)
	orEmpty(&p.Cooldowns)
}

func orEmpty[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
