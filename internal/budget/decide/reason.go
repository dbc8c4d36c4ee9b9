package decide

import (
	"fmt"
	"math/big"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// used says how much of the limit is used.
func (f *facts) used() string {
	percent := new(big.Int).Mul(big.NewInt(f.usage.Consumed), big.NewInt(100)) // rounded down
	percent.Quo(percent, big.NewInt(max(f.usage.Limit, 1)))
	return fmt.Sprintf("%s of %s GPU-hours are used (%s%%)", budget.Hours(f.usage.Consumed), budget.Hours(f.usage.Limit), percent)
}

// because says why the limit is enforced.
func (f *facts) because() []string {
	reasons := []string{f.usedSince()}
	if at := f.status.EnforceAt; at != nil {
		reasons = append(reasons, fmt.Sprintf("the grace period of %s ended at %s", f.Declaration.Enforce.GracePeriod, wording.Instant(*at)))
	}
	return reasons
}

// usedSince says how much of the limit is used, and since when it is reached.
func (f *facts) usedSince() string {
	text := f.used()
	if since := f.Result.ExceededSince; since != nil {
		text += " since " + wording.Instant(*since)
	}
	return text
}

// recovery says when usage falls below the limit by itself, where that is known.
func (f *facts) recovery() []string {
	switch at := f.usage.RecoversAt; {
	case at == nil:
		return nil
	case f.Declaration.Period != "":
		return []string{"its period ends at " + wording.Instant(*at) + ", and usage begins anew"}
	default:
		return []string{"it recovers by itself at " + wording.Instant(*at) + " if nothing more is used"}
	}
}

// gpus is a rate in words.
func gpus(rate int64) string {
	if rate == 1000 {
		return "1 GPU"
	}
	return budget.MilliGPUs(rate) + " GPUs"
}
