package spotpools

import (
	"context"
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Forecast is when a pool at its maximum would use up its budget.
type Forecast struct {
	Budget string
	// MilliGPUs is how many GPUs the pool has at its maximum, in thousandths.
	MilliGPUs int64
	// Remaining is what is left of the budget, in milli-GPU-seconds.
	Remaining int64
	// AsOf is when the budget's status was made.
	AsOf time.Time
	// ExhaustedAt is when the budget would be used up; nil if its window ends, or moves on,
	// before that.
	ExhaustedAt *time.Time
}

// Forecast returns when a pool at its maximum, with pods of its budget on all of its GPUs,
// would use up the budget. It is nil if the pool has no budget, or the GPUs of its instance
// types are unknown.
func (f *Flow) Forecast(ctx context.Context, d spotpool.Declaration, offers []spotpool.Offer) (*Forecast, error) {
	if d.Budget == "" {
		return nil, nil
	}
	status, record, err := f.budgetStatus(ctx, d.Budget, nil)
	if err != nil {
		return nil, err
	}
	now := f.now().UTC()
	if err := declaration.Trust(record, status, now); err != nil {
		return nil, err
	}
	rate := milliGPUs(d, record.Declaration, offers)
	if rate == 0 {
		return nil, nil
	}
	forecast := &Forecast{Budget: d.Budget, MilliGPUs: rate, Remaining: status.Usage.Remaining(), AsOf: status.At}
	window, err := record.Declaration.WindowAt(now, time.LoadLocation)
	if err != nil {
		return nil, err
	}
	forecast.ExhaustedAt = exhaustion(status.Usage, window, rate, now)
	return forecast, nil
}

// exhaustion returns when the rest of a budget is used up at a rate in milli-GPUs; nil if it
// never is. A rolling window is used up only if the limit lasts for less than its length.
func exhaustion(u budget.Usage, w budget.Window, rate int64, now time.Time) *time.Time {
	seconds := u.Remaining() / rate
	if w.Rolling && u.Limit/rate > seconds64(w.End.Sub(w.Start)) || !w.Rolling && seconds >= seconds64(w.End.Sub(now)) {
		return nil
	}
	at := now.Add(time.Duration(seconds) * time.Second)
	return &at
}

func seconds64(d time.Duration) int64 { return int64(d / time.Second) }

// milliGPUs returns how many GPUs the pool has at its maximum, with its budget's weights, if
// each instance has the type with the most GPUs.
func milliGPUs(d spotpool.Declaration, b budget.Declaration, offers []spotpool.Offer) int64 {
	most := new(big.Rat)
	for _, offer := range offers {
		gpus, ok := new(big.Rat).SetString(offer.GPUs)
		if !ok || !offered(d, offer) {
			continue
		}
		gpus.Mul(gpus, b.MachineWeight(offer.GPUType, offer.InstanceType))
		if gpus.Cmp(most) > 0 {
			most = gpus
		}
	}
	most.Mul(most, new(big.Rat).SetInt64(1000*int64(d.Maximum)))
	return new(big.Int).Div(most.Num(), most.Denom()).Int64()
}

func offered(d spotpool.Declaration, offer spotpool.Offer) bool {
	for _, o := range d.Offerings {
		if o.InstanceType == offer.InstanceType && o.AvailabilityZone == offer.AvailabilityZone {
			return true
		}
	}
	return false
}
