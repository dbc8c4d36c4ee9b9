package budget

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// waiting are the pods of the budget that wait for GPUs and may be touched, by
// name. They were let in before any freeze, have used nothing, and would start in
// each GPU that becomes free.
func (d *decider) waiting() []Pod {
	open, _ := d.covered(queued)
	slices.SortFunc(open, byName)
	return open
}

func queued(p Pod) bool { return p.Waits() && p.Deletion == 0 }

// tellWaiting tells of the pods that wait for GPUs, with how many they ask for.
func (d *decider) tellWaiting() {
	open, spared := d.covered(queued)
	var names []string
	asked := int64(0)
	for _, p := range open {
		names = append(names, p.ref())
		asked += p.MilliGPUs
	}
	slices.Sort(names)
	if n := len(names); n > 0 {
		d.warn("%d %s for %s: %s", n, wording.Plural(n, "pod waits", "pods wait"), gpus(asked), wording.Some(names))
	}
	if n := len(spared); n > 0 {
		d.warn("%d protected %s for GPUs: %s", n, wording.Plural(n, "pod waits", "pods wait"), wording.Some(spared))
	}
}

// evictWaiting plans the evictions of the pods that wait, which come before those
// that would make room for them. They cost nobody's work, so that the most that a
// run may evict does not apply.
func (d *decider) evictWaiting() {
	var left []string
	for _, p := range d.waiting() {
		switch {
		case p.Controller().Kind == "Job" && !p.Of.Forgiving:
			left = append(left, fmt.Sprintf("%s (of the Job %s)", p.ref(), p.Owner.Name))
		default:
			d.decide(Decision{
				Kind: KindEvict, Pod: &p, Reasons: append(d.because(), "it waits for "+gpus(p.MilliGPUs)+", and would start in what becomes free"),
			})
		}
	}
	if n := len(left); n > 0 {
		d.warn("%d %s left waiting: to %s, whose podFailurePolicy does not ignore DisruptionTarget, an eviction would be a failure: %s", n,
			wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "its Job", "their Jobs"), wording.Some(left))
	}
}
