package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// waiting are the pods of the budget that wait for GPUs and may be touched, by
// name, and those that are protected, with the reasons. They were let in before any
// freeze, have used nothing, and would start in each GPU that becomes free, or once the
// node that they are bound to is back.
func (f *reach) waiting() (open []budget.Pod, spared []string) {
	open, spared = f.covered(func(p budget.Pod) bool { return p.Waits() && p.Deletion == 0 })
	slices.SortFunc(open, byName)
	return open, spared
}

// warnWaiting warns of the pods that wait for GPUs, with how many they ask for.
func warnWaiting(f *facts) (r result) {
	if f.invalid != nil && len(f.Pods) > 0 {
		r.warnf("its selector is not valid, so nothing is enforced: %v", f.invalid)
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

// evictWaiting decides to evict the pods that wait, which come before those
// that would make room for them. They cost nobody's work, so that the most that a
// run may evict does not apply.
func evictWaiting(f *facts) (r result) {
	open, _ := f.waiting()
	var left []string
	for _, p := range open {
		if p.Controller().Kind == "Job" && !p.Of.Forgiving {
			left = append(left, fmt.Sprintf("%s (of the Job %s)", p, p.Owner.Name))
			continue
		}
		r.decide(budget.Decision{
			Kind: budget.KindEvict, Pod: &p, Reasons: append(f.because(), "it waits for "+gpus(p.MilliGPUs)+", and would start in what becomes free"),
		})
	}
	if n := len(left); n > 0 {
		r.warnf("%d %s left waiting: to %s, whose podFailurePolicy does not ignore DisruptionTarget, an eviction would be a failure: %s", n,
			wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "its Job", "their Jobs"), wording.Some(left))
	}
	return r
}
