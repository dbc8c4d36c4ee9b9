package tencent

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/time/rate"
)

// defaultRates are requests per second by action, a tenth below the limits of an account over
// all regions. See API documents 213/568, 213/33237 and 213/33254; the tag service allows 20.
var defaultRates = map[string]float64{
	"DescribeInstances":               36,
	"DescribeZoneInstanceConfigInfos": 36,
	"RunInstances":                    9,
	"TerminateInstances":              9,
	"TagResources":                    18,
	"UnTagResources":                  18,
}

// otherRate applies to actions without a documented limit.
const otherRate = 9

// limits holds one token bucket an action.
type limits struct {
	rates   map[string]float64
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newLimits(over map[string]float64) *limits {
	rates := map[string]float64{}
	for _, layer := range []map[string]float64{defaultRates, over} {
		for action, r := range layer {
			rates[action] = r
		}
	}
	return &limits{rates: rates, buckets: map[string]*rate.Limiter{}}
}

// wait blocks until the action may be called, or the context is done.
func (l *limits) wait(ctx context.Context, action string) error {
	if err := l.bucket(action).Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// The limiter gives up at once where the deadline comes before its turn.
		return fmt.Errorf("waiting for the rate limit of %s: %w", action, context.DeadlineExceeded)
	}
	return nil
}

func (l *limits) bucket(action string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[action]
	if b == nil {
		perSecond, known := l.rates[action]
		if !known {
			perSecond = otherRate
		}
		b = rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond/9)))
		if perSecond <= 0 {
			b = rate.NewLimiter(rate.Inf, 1)
		}
		l.buckets[action] = b
	}
	return b
}
