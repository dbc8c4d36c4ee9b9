package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	var late []reason.Item
	for _, p := range ending {
		due := p.Deletion.Time()
		if due.Sub(f.Now) > most && among(p) {
			r.decide(budget.Decision{Kind: budget.KindShorten, Pod: &p, Reasons: append(f.reasons(),
				reason.TerminatesLate(reason.Instant{Time: due}, reason.Duration(most)))})
			continue
		}
		late = append(late, item(p, reason.DueAt(reason.Instant{Time: due})))
	}
	if n := len(late); n > 0 {
		r.warn(reason.Terminating(reason.Count(n), reason.List(late)))
	}
	if n := len(spared); n > 0 {
		r.warn(reason.ProtectedTerminating(reason.Count(n), sorted(spared)))
	}
	return r
}
