package meter

import (
	"math/big"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// cross finds when a budget's limit was crossed, when usage falls below it again, and when it is crossed at
// the present rate. Usage and burn rate alone often suffice. A sweep is needed if the limit is reached
// already, or if the window is rolling and usage leaves it.
func (e *evaluation) cross(a *account, r *Result, burn *big.Rat) {
	u := &r.Usage
	switch {
	case u.Exceeded():
		since, _ := e.sweep(a)
		at, recovers := since.Time(), e.recovers(a)
		r.ExceededSince, u.RecoversAt = &at, &recovers
	case burn.Sign() == 0:
	case a.meter.window.Rolling:
		// Nothing is reached where all that is used stayed and were not enough.
		most := new(big.Rat).Mul(burn, new(big.Rat).SetInt64(int64(a.meter.rolling())))
		most.Add(most, new(big.Rat).SetInt64(plus(u.Consumed, int64(u.TrackedPods))))
		if most.Cmp(new(big.Rat).SetInt64(u.Limit)) < 0 {
			return
		}
		if _, ahead := e.sweep(a); ahead >= e.now {
			at := ahead.Time()
			u.ProjectedExhaustion = &at
		}
	default:
		left := new(big.Rat).SetInt64(u.WindowEnd.UnixMilli() - int64(e.now))
		lasts := new(big.Rat).Quo(new(big.Rat).SetInt64(u.Limit-u.Consumed), burn)
		if lasts.Cmp(left) < 0 {
			at := (e.now + ledger.Time(ceil(lasts))).Time()
			u.ProjectedExhaustion = &at
		}
	}
}

// rolling is the length of a rolling window; zero for a period.
func (m *Meter) rolling() ledger.Time {
	if !m.window.Rolling {
		return 0
	}
	return ledger.TimeOf(m.window.End) - m.begin
}

// ceil rounds up what is not negative and fits.
func ceil(n *big.Rat) int64 {
	quotient, rest := new(big.Int).QuoRem(n.Num(), n.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		return quotient.Int64() + 1
	}
	return quotient.Int64()
}

// sweep follows the usage of a budget through time. It returns when usage last rose to the limit up to now,
// and when it first rises to it from now on; zero for never.
//
// An event enters the window at once, and leaves a rolling one by its length later. Usage before a calendar
// period begins with it.
func (e *evaluation) sweep(a *account) (since, ahead ledger.Time) {
	steps, parts := e.stepsOf(a)
	s := &sweep{limit: product(a.limit, parts)}
	rolling, leaving, from := a.meter.rolling(), steps, ledger.Time(0)
	if rolling == 0 {
		leaving, from = nil, a.meter.begin
	}
	leave := func(until ledger.Time) {
		for len(leaving) > 0 && leaving[0].at+rolling <= until {
			s.advance(leaving[0].at + rolling)
			s.rate -= leaving[0].change
			leaving = leaving[1:]
		}
	}
	for _, step := range steps {
		leave(step.at)
		s.advance(max(step.at, from))
		s.rate += step.change
	}
	leave(e.now)
	s.advance(e.now)
	since = s.since
	if !s.above {
		// Intervals are rounded one by one. So they may reach the limit although their exact sum is less than
		// one unit below it.
		since = s.rose
	}
	if s.ahead = 0; s.above {
		s.ahead = e.now
	}
	leave(e.now + rolling)
	s.advance(e.now + rolling)
	return since, s.ahead
}

// sweep is the state of a sweep.
type sweep struct {
	limit, used wide        // in parts of a GPU times milliseconds
	rate        int64       // in parts of a GPU
	at, rose    ledger.Time // where it stands, and when usage last rose
	above       bool
	since       ledger.Time // the last crossing upwards
	ahead       ledger.Time // the first one
}

// advance moves the sweep on, and notes whether usage crosses the limit on the way.
func (s *sweep) advance(to ledger.Time) {
	passed := to - s.at
	if passed <= 0 {
		return
	}
	if s.rate != 0 {
		used := s.used.plus(product(s.rate, int64(passed)))
		above := !used.below(s.limit)
		if above && !s.above {
			s.since = s.at + ledger.Time(s.limit.minus(s.used).over(s.rate))
			if s.ahead == 0 {
				s.ahead = s.since
			}
		}
		s.above, s.used = above, used
		if s.rate > 0 {
			s.rose = to
		}
	}
	s.at = to
}
