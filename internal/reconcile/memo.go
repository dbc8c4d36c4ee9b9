package reconcile

import (
	"context"
	"errors"
	"sync"
	"time"
)

// memo keeps the results of observations for a while, failures included. Concurrent callers of
// one key wait for the same observation.
type memo struct {
	mu      sync.Mutex
	results map[string]*remembered
}

type remembered struct {
	mu    sync.Mutex
	value any
	err   error
	taken time.Time // the start of the observation; zero before the first
}

// memoAtMost is the most results that are kept.
const memoAtMost = 4096

func (m *memo) of(key string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results == nil || len(m.results) >= memoAtMost {
		m.results = map[string]*remembered{}
	}
	r := m.results[key]
	if r == nil {
		r = &remembered{}
		m.results[key] = r
	}
	return r
}

// remember returns a result that is at most age old.
func remember[T any](ctx context.Context, m *memo, key string, age time.Duration, observe func(context.Context) (T, error)) (T, error) {
	r := m.of(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken.IsZero() || time.Since(r.taken) >= age {
		began := time.Now()
		value, err := observe(ctx)
		if err != nil && (ctx.Err() != nil || errors.Is(err, context.Canceled)) {
			return value, err // another caller may have more time
		}
		r.value, r.err, r.taken = value, err, began
	}
	value, _ := r.value.(T)
	return value, r.err
}
