package decide

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

func (f *facts) used() string {
	return fmt.Sprintf("%s of %s GPU-hours are used (%d%%)", budget.Hours(f.usage.Consumed), budget.Hours(f.usage.Limit),
		budget.Percent(f.usage.Consumed, f.usage.Limit))
}

// reasons returns why the limit is enforced.
func (f *facts) reasons() []string {
	reasons := []string{f.usedSince()}
	if at := f.status.EnforceAt; at != nil {
		reasons = append(reasons, fmt.Sprintf("the grace period of %s ended at %s", f.Declaration.Enforce.GracePeriod, wording.Instant(*at)))
	}
	return reasons
}

// usedSince adds since when the limit is reached.
func (f *facts) usedSince() string {
	text := f.used()
	if since := f.Result.ExceededSince; since != nil {
		text += " since " + wording.Instant(*since)
	}
	return text
}

// recovery returns when usage falls below the limit by itself, if known.
func (f *facts) recovery() []string {
	switch at := f.usage.RecoversAt; {
	case at == nil:
		return nil
	case f.Declaration.Period != "":
		return []string{"its period ends at " + wording.Instant(*at) + ", and usage starts again from zero"}
	default:
		return []string{"it recovers by itself at " + wording.Instant(*at) + " if nothing more is used"}
	}
}

func gpus(rate int64) string { return wording.Amount(budget.MilliGPUs(rate), "GPU") }
