package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// waiting returns the budget's pods that wait for GPUs, by name, and the protected ones with the
// reasons. They were admitted before any freeze, have used nothing, and start once GPUs are free or
// their node is back.
func (f *reach) waiting() (open []budget.Pod, spared []string) {
	open, spared = f.covered(func(p budget.Pod) bool { return p.Waits() && p.Deletion == 0 })
	slices.SortFunc(open, byName)
	return open, spared
}

// warnWaiting warns of the pods that wait for GPUs.
func warnWaiting(f *facts) (r result) {
	if f.invalid != nil && len(f.Pods) > 0 {
		r.warnf("its selector is invalid, so nothing is enforced: %v", f.invalid)
	}
	open, spared := f.waiting()
	var names []string
	asked := int64(0)
	for _, p := range open {
		names = append(names, p.String())
		asked += p.MilliGPUs
	}
	if n := len(names); n > 0 {
		r.warnf("%d %s for %s: %s", n, wording.Plural(n, "pod waits", "pods wait"), gpus(asked), wording.Some(names))
	}
	if n := len(spared); n > 0 {
		r.warnf("%d protected %s for GPUs: %s", n, wording.Plural(n, "pod waits", "pods wait"), wording.Some(spared))
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
	var left []string
	for _, p := range open {
		if !among(p) {
			continue
		}
		if p.Controller().Kind == "Job" && !p.Of.ToleratesDisruption {
			left = append(left, fmt.Sprintf("%s (of the Job %s)", p, p.Owner.Name))
			continue
		}
		r.decide(budget.Decision{
			Kind: budget.KindEvict, Pod: &p, Reasons: append(f.reasons(), "it waits for "+gpus(p.MilliGPUs)+", and would start once GPUs are free"),
		})
	}
	if n := len(left); n > 0 {
		r.warnf("%d %s left waiting: %s would count the eviction as a failure, since no podFailurePolicy ignores DisruptionTarget: %s", n,
			wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "its Job", "their Jobs"), wording.Some(left))
	}
	return r
}
