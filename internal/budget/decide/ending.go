package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// shorten shortens the grace periods of terminating pods that hold GPUs, deleted by this run or not.
func shorten(f *facts) result {
	return f.shorten(func(budget.Pod) bool { return true })
}

// shorten shortens the grace period of some pods to max_grace_period. It warns of the other
// terminating pods in each run.
func (f *facts) shorten(among func(budget.Pod) bool) (r result) {
	ending, spared := f.covered(func(p budget.Pod) bool { return p.Deletion != 0 })
	slices.SortFunc(ending, byName)
	most := f.Declaration.Enforce.LongestGrace()
	var late []string
	for _, p := range ending {
		due := p.Deletion.Time()
		if due.Sub(f.Now) > most && among(p) {
			r.decide(budget.Decision{Kind: budget.KindShorten, Pod: &p, Reasons: append(f.reasons(),
				fmt.Sprintf("it is terminating and may take until %s, longer than max_grace_period (%s)", wording.Instant(due), duration.Words(most)))})
			continue
		}
		late = append(late, fmt.Sprintf("%s (due at %s)", p, wording.Instant(due)))
	}
	if n := len(late); n > 0 {
		r.warnf("%d %s terminating, and still %s GPUs: %s", n, wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "holds", "hold"), wording.Some(late))
	}
	if n := len(spared); n > 0 {
		r.warnf("%d protected %s terminating, and still %s GPUs: %s", n, wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "holds", "hold"),
			wording.Some(spared))
	}
	return r
}
