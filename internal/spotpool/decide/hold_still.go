package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// reportHold says what is not done because of the hold. A launch whose outcome is unknown is
// not retried: if it never reached Tencent Cloud, that would launch. It stays pending, and is
// retried after the hold.
func reportHold(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	reason, surplus := v.Hold.Reason(d), t.total-v.unseen-d.Maximum
	switch {
	case t.coming < d.Minimum:
		r.because(spotpool.Reason{Code: spotpool.BecauseHold, Until: v.Hold.Until, Text: reason})
	case surplus > 0:
		r.warnf("%d %s above maximum %d: %s", surplus, wording.Plural(surplus, "instance", "instances"), d.Maximum, reason)
	default:
		r.warnf("%s", reason)
	}
	if len(v.interrupted) > 0 {
		r.warnf("%s: on hold, %s replacement is not launched, and no node is drained", reclaims(v.interrupted),
			wording.Plural(len(v.interrupted), "its", "their"))
	}
	for _, intent := range v.Journal.Pending {
		r.shortf(spotpool.BecauseOpenLaunch, "launch %d of %s has an unknown outcome, and is retried after the hold",
			intent.Request.Sequence, wording.Count(intent.Request.Count, "instance"))
	}
	return t, r
}
