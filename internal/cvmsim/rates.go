package cvmsim

import (
	"sync"
	"time"
)

// bucket is a token bucket that holds one second's worth of calls.
type bucket struct {
	tokens float64
	filled time.Time
}

// rates keeps a bucket for each action.
type rates struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

// reset fills all buckets.
func (r *rates) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buckets = map[string]*bucket{}
}

// allow takes a call out of the action's bucket. Buckets fill on the base
// clock, so that stepping the world's clock grants no calls.
func (r *rates) allow(a *action, clock time.Time) *apiError {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[a.name]
	if b == nil {
		b = &bucket{tokens: a.rate, filled: clock}
		r.buckets[a.name] = b
	}
	b.tokens = min(a.rate, b.tokens+clock.Sub(b.filled).Seconds()*a.rate)
	b.filled = clock
	if b.tokens < 1 {
		return requestLimitExceeded(a)
	}
	b.tokens--
	return nil
}

func requestLimitExceeded(a *action) *apiError {
	return fail("RequestLimitExceeded", "The request frequency of `%s` exceeds the limit of %g requests per second.", a.name, a.rate)
}
