package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// holdStill says what is left undone because of the hold. A launch whose outcome is
// unknown is not asked for again: where it never reached the cloud, that would launch.
// It stays written down and counts as held, its instances are looked for, and once the
// hold has ended it is asked for again.
func holdStill(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	reason, surplus := v.Hold.Reason(d), t.total-v.unseen-d.Maximum
	switch {
	case t.coming < d.Minimum:
		r.because(spotpool.Reason{Code: spotpool.BecauseHold, Until: v.Hold.Until, Text: reason})
	case surplus > 0:
		r.warnf("%d held above maximum %d: %s", surplus, d.Maximum, reason)
	default:
		r.warnf("%s", reason)
	}
	if len(v.doomed) > 0 {
		r.warnf("%s: on hold, nothing is launched in %s place, and no node is drained", taken(v.doomed), wording.Plural(len(v.doomed), "its", "their"))
	}
	for _, intent := range v.Journal.Pending {
		r.shortf(spotpool.BecauseOpenLaunch, "launch %d of %d, whose outcome is unknown, is looked for, and asked for again once the hold has ended",
			intent.Request.Sequence, intent.Request.Count)
	}
	return t, r
}
