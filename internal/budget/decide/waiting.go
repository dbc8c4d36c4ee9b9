package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// waiting returns the budget's pods that wait for GPUs, by name, and the protected ones with the
// reasons. They were admitted before any freeze, have used nothing, and start once GPUs are free or
// their node is back.
func (f *reach) waiting() (open []budget.Pod, spared []reason.Item) {
	open, spared = f.covered(func(p budget.Pod) bool { return p.Waits() && p.Deletion == 0 })
	slices.SortFunc(open, byName)
	return open, spared
}

// warnWaiting warns of the pods that wait for GPUs.
func warnWaiting(f *facts) (r result) {
	if f.invalid != nil && len(f.Pods) > 0 {
		r.warn(reason.SelectorInvalid(reason.Failure(f.invalid)))
	}
	open, spared := f.waiting()
	var names []reason.Item
	asked := int64(0)
	for _, p := range open {
		names = append(names, reason.Item{Name: p.String()})
		asked += p.MilliGPUs
	}
	if n := len(names); n > 0 {
		r.warn(reason.PodsWaiting(reason.Count(n), gpus(asked), reason.List(names)))
	}
	if n := len(spared); n > 0 {
		r.warn(reason.ProtectedWaiting(reason.Count(n), sorted(spared)))
	}
	return r
}

// evictWaiting decides to evict the waiting pods.
func evictWaiting(f *facts) result {
	return f.evictWaiting(func(budget.Pod) bool { return true })
}

// evictWaiting decides to evict some waiting pods, before the pods whose GPUs they would get. No work is
// lost, so max_evictions_per_run does not apply.
func (f *facts) evictWaiting(among func(budget.Pod) bool) (r result) {
	open, _ := f.waiting()
	var left []reason.Item
	for _, p := range open {
		if !among(p) {
			continue
		}
		if p.Controller().Kind == "Job" && !p.Of.ToleratesDisruption {
			left = append(left, item(p, reason.OfJob(reason.Word(p.Owner.Name))))
			continue
		}
		r.decide(budget.Decision{
			Kind: budget.KindEvict, Pod: &p, Reasons: append(f.reasons(), reason.WaitsFor(gpus(p.MilliGPUs))),
		})
	}
	if n := len(left); n > 0 {
		r.warn(reason.LeftWaiting(reason.Count(n), reason.List(left)))
	}
	return r
}
