package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// Status is what a store has, by kind. A kind that could not be observed in time is nil.
type Status struct {
	SpotPools, Budgets, StockPools *reconcile.StatusReport
}

// OfStatus returns the metrics of a store. The counters are those of all runs, so that they are
// the same for each process that returns them.
func OfStatus(s Status) *prometheus.Registry {
	m := newExposition()
	if last := s.lastRun(); last != nil {
		m.success(last.Failed == 0 && last.Failing.Of(history.Run) == nil)
		m.times(seconds(last.FinishedAt), seconds(last.SucceededAt), last.FinishedAt.Sub(last.StartedAt))
		if last.Decisions == 0 || len(last.Outcomes) > 0 { // an older gpupool wrote none
			m.decisions(last.Outcomes)
		}
		m.calls(last.Calls)
		m.counters(last.Counters)
	}
	if s.SpotPools != nil && s.Budgets != nil && s.StockPools != nil {
		var all []outcome.Summary
		for _, r := range []*reconcile.StatusReport{s.SpotPools, s.Budgets, s.StockPools} {
			all = append(all, r.Declarations()...)
		}
		m.declarations(all)
	}
	states := m.states()
	if s.SpotPools != nil {
		var pools []spotpools.Report
		for _, p := range s.SpotPools.SpotPools {
			pools = append(pools, p.Report)
			states(p.Summary(), p.State)
		}
		m.pools(pools)
	}
	if s.Budgets != nil {
		var list []budgets.Report
		for _, b := range s.Budgets.Budgets {
			list = append(list, b.Report)
			states(b.Summary(), b.State...)
		}
		m.budgets(list)
	}
	if s.StockPools != nil {
		var pools []stockpools.Report
		for _, p := range s.StockPools.StockPools {
			pools = append(pools, p.Report)
			states(p.Summary(), p.State)
		}
		m.stock(pools)
	}
	return m.registry
}

// lastRun is the summary of the last run; nil if there was none, or if it is unreadable.
func (s Status) lastRun() *declaration.RunSummary {
	for _, r := range []*reconcile.StatusReport{s.Budgets, s.SpotPools, s.StockPools} {
		if r != nil {
			return r.LastRun
		}
	}
	return nil
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}
