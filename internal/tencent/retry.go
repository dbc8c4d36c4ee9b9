package tencent

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is exponential with full jitter: a random part of base·2ⁿ, up to a cap.
type backoff struct {
	base, limit time.Duration
}

// maxUnreachable bounds the attempts at an address that accepts no connection: it is
// more often wrong than busy, and the caller waits for the error.
const maxUnreachable = 3

// delay is how long to wait after attempt n (from 1).
func (b backoff) delay(n int) time.Duration {
	ceiling := b.limit
	if shift := n - 1; shift < 20 && b.base<<shift < b.limit {
		ceiling = b.base << shift
	}
	return time.Duration(rand.Int64N(int64(ceiling) + 1))
}

// sleep waits, or returns early with the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
