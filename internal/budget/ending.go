package budget

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// GraceOf is how many seconds a pod gets to end that asks for so many: no more
// than the budget lets it, and never zero, which would delete it by force.
func (e Enforcement) GraceOf(asked int64) int64 {
	return max(1, min(asked, int64(e.maxGrace()/time.Second)))
}

// ending are the pods that count against the budget, may be touched, and are on
// their way out, whoever sent them there.
func (d *decider) ending() []Pod {
	open, _ := d.covered(func(p Pod) bool { return p.Deletion != 0 })
	slices.SortFunc(open, byName)
	return open
}

// hurry sees to pods that end and hold GPUs until they have: where the budget
// evicts, those that would take longer than it lets them are given less time. The
// others are told of in each run: what was evicted is not yet gone.
func (d *decider) hurry(shorten bool) {
	most := d.Declaration.Enforce.maxGrace()
	var late []string
	for _, p := range d.ending() {
		left := p.Deletion.Time().Sub(d.Now)
		switch {
		case left <= 0:
			late = append(late, fmt.Sprintf("%s (was to end at %s)", p.ref(), stamp(p.Deletion.Time())))
		case left > most && shorten:
			d.decide(Decision{Kind: KindShorten, Pod: &p, Reasons: append(d.because(),
				fmt.Sprintf("it is ending already and would take until %s, and max_grace_period is %s", stamp(p.Deletion.Time()), duration.Words(most)))})
		default:
			late = append(late, fmt.Sprintf("%s (is to end at %s)", p.ref(), stamp(p.Deletion.Time())))
		}
	}
	if n := len(late); n > 0 {
		d.warn("%d %s ending, and still %s GPUs: %s", n, wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "holds", "hold"), wording.Some(late))
	}
}
