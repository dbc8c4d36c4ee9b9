package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// shorten sees to pods that end and hold GPUs until they have, whoever deleted them, where
// the budget evicts.
func shorten(f *facts) result {
	return f.shorten(func(budget.Pod) bool { return true })
}

// shorten gives pods of some less time that would take longer to end than the budget lets
// them. It warns of the others in each run: what was evicted is not yet gone.
func (f *facts) shorten(among func(budget.Pod) bool) (r result) {
	ending, _ := f.covered(func(p budget.Pod) bool { return p.Deletion != 0 })
	slices.SortFunc(ending, byName)
	most := f.Declaration.Enforce.LongestGrace()
	var late []string
	for _, p := range ending {
		due := p.Deletion.Time()
		switch left := due.Sub(f.Now); {
		case left <= 0:
			late = append(late, fmt.Sprintf("%s (was to end at %s)", p, wording.Instant(due)))
		case left > most && among(p):
			r.decide(budget.Decision{Kind: budget.KindShorten, Pod: &p, Reasons: append(f.because(),
				fmt.Sprintf("it is ending already and would take until %s, and max_grace_period is %s", wording.Instant(due), duration.Words(most)))})
		default:
			late = append(late, fmt.Sprintf("%s (is to end at %s)", p, wording.Instant(due)))
		}
	}
	if n := len(late); n > 0 {
		r.warnf("%d %s ending, and still %s GPUs: %s", n, wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "holds", "hold"), wording.Some(late))
	}
	return r
}
