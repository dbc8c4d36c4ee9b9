package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// retryLaunches retries each launch whose outcome is unknown, unless some of its instances
// were found: then it took effect, and the others will be found.
func retryLaunches(v View, t Tally) (_ Tally, r Result) {
	if v.SoFar.Halted != "" {
		return t, r
	}
	for _, intent := range v.Journal.Pending {
		request := intent.Request
		if !v.retries(intent) {
			r.short(spotpool.BecauseOpenLaunch,
				reason.LaunchIncomplete(reason.Count(request.Sequence), reason.Count(len(intent.Seen)), reason.Count(request.Count)))
			continue
		}
		r.Decisions = append(r.Decisions, spotpool.Decision{
			Kind: spotpool.KindLaunch, Object: v.Declaration.Object(), Count: request.Count, Offering: &request.Offering, ChargeType: request.ChargeType,
			Currency: intent.Currency, Sequence: request.Sequence, Token: request.Token, Resume: true, Request: &request,
			Reasons: reason.Reasons{reason.UnknownOutcome(reason.Count(request.Sequence), reason.Instant{Time: intent.WrittenAt})},
		})
	}
	return t, r
}
