package reconcile

import (
	"maps"
	"sync/atomic"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// Runner reconciles and describes everything that a store declares. What one run could
// not write to the history, its next one does.
type Runner struct {
	world   World
	pools   *spotpools.Flow
	budgets *budgets.Flow
	stock   *stockpools.Flow
	reached atomic.Pointer[Cluster] // for its count of calls
}

// Runner returns one with flows of its own.
func (w World) Runner() *Runner {
	r := &Runner{world: w}
	w.Cluster = connectAs(w.Cluster, func(c Cluster) Cluster { r.reached.Store(&c); return c })
	r.pools, r.budgets, r.stock = w.SpotPools(), w.Budgets(), w.StockPools()
	return r
}

// calls counts the calls to Tencent Cloud, by action, and to the cluster, by verb and resource.
func (r *Runner) calls() map[string]int {
	calls := map[string]int{}
	if cloud := r.world.Cloud; cloud != nil {
		maps.Copy(calls, cloud.Calls())
	}
	if c := r.reached.Load(); c != nil {
		maps.Copy(calls, (*c).Calls())
	}
	return calls
}

func callsSince(before, after map[string]int) map[string]int {
	calls := map[string]int{}
	for action, n := range after {
		if n -= before[action]; n > 0 {
			calls[action] = n
		}
	}
	return calls
}
