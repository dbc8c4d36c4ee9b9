package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// reportHold says what is not done because of the hold. A launch whose outcome is unknown is
// not retried: if it never reached Tencent Cloud, that would launch. It stays pending, and is
// retried after the hold.
func reportHold(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	hold, surplus := v.Hold.Reason(d), t.total-v.unseen-d.Maximum
	switch {
	case t.coming < d.Minimum:
		r.because(spotpool.Reason{Code: spotpool.BecauseHold, Until: v.Hold.Until, Why: hold})
	case surplus > 0:
		r.warn(reason.AboveMaximumOnHold(reason.Count(surplus), reason.Count(d.Maximum), hold, reason.Word(d.Key())))
	default:
		r.warn(hold)
	}
	if len(v.interrupted) > 0 {
		r.warn(reason.ReclaimedOnHold(reclaimed(v.interrupted), reason.Count(len(v.interrupted))))
	}
	for _, intent := range v.Journal.Pending {
		r.short(spotpool.BecauseOpenLaunch, reason.LaunchAfterHold(reason.Count(intent.Request.Sequence), reason.Count(intent.Request.Count)))
	}
	return t, r
}
