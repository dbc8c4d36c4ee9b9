package api

import (
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

// bucket is a token bucket for one second's worth of calls.
type bucket struct {
	tokens float64
	filled time.Time
}

type rates struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

func (r *rates) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buckets = map[string]*bucket{}
}

// allow takes a token for the action. Buckets fill on the base clock, so that stepping the world's
// clock grants no calls.
func (r *rates) allow(a *Action, clock time.Time) *wire.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[a.Name]
	if b == nil {
		b = &bucket{tokens: a.Rate, filled: clock}
		r.buckets[a.Name] = b
	}
	b.tokens = min(a.Rate, b.tokens+clock.Sub(b.filled).Seconds()*a.Rate)
	b.filled = clock
	if b.tokens < 1 {
		return requestLimitExceeded(a)
	}
	b.tokens--
	return nil
}

func requestLimitExceeded(a *Action) *wire.Error {
	return wire.Fail("RequestLimitExceeded", "The request frequency of `%s` exceeds the limit of %g requests per second.", a.Name, a.Rate)
}
