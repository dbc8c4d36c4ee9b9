package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// freeze decides to keep new GPU pods out, or to make sure that they are.
func freeze(f *facts) (r result) {
	r.FreezeRecoversAt = f.freezeEnds()
	if f.Frozen && !f.FreezeOutdated {
		r.EnsureFreeze = true
		return r
	}
	reasons := append(f.because(), f.recovery()...)
	if f.Frozen {
		reasons = append(reasons, "the freeze in force is for another selector than the declared one")
	}
	r.decide(budget.Decision{Kind: budget.KindFreeze, Namespaces: f.namespaces(), Reasons: reasons})
	return r
}

// What a freeze says of its end.
const (
	// wholeEnd is what it is rounded up to.
	wholeEnd = 5 * time.Minute
	// wrongPart is the part of the time that is left by which it may be wrong.
	wrongPart = 10
)

// freezeEnds is the end that the freeze names.
func (f *facts) freezeEnds() time.Time {
	return namedEnd(f.FreezeRecoversAt, f.usage.RecoversAt, f.Now)
}

// namedEnd is the moment that a freeze names: what it names already, as long as that
// is near enough. While pods go on the recovery moves with each run, and a freeze is
// written anew, and respected anew by all API servers, for each moment that it names.
func namedEnd(named time.Time, recovers *time.Time, now time.Time) time.Time {
	if recovers == nil {
		return time.Time{}
	}
	enough := max(wholeEnd, recovers.Sub(now)/wrongPart)
	if named.After(now) && named.Sub(*recovers).Abs() <= enough {
		return named
	}
	return recovers.Add(wholeEnd - 1).Truncate(wholeEnd).UTC()
}
