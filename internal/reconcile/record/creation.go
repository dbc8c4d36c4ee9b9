package record

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// forgottenAfter is how long a creation may stand still before it counts as failed:
// longer than an apply takes.
const forgottenAfter = time.Hour

// CreationError reports an unfinished creation, which a run leaves to terraform apply.
type CreationError struct {
	// Forgotten is since when no process resumes it; zero if one may.
	Forgotten time.Time
	Key       string
}

// Because says which process resumes it.
func (e *CreationError) Because() reason.Reason {
	if e.Forgotten.IsZero() {
		return reason.CreationUnfinished()
	}
	return reason.CreationForgotten(reason.Instant{Time: e.Forgotten.UTC()}, reason.Word(e.Key))
}

// Error is Because as text.
func (e *CreationError) Error() string { return e.Because().String() }

// UnfinishedCreation reports a creation that was last written then. It is forgotten if it
// stopped long ago, and no process has its lock.
func (l Lifecycle[D]) UnfinishedCreation(ctx context.Context, d D, lock string, updatedAt time.Time) *CreationError {
	e := &CreationError{Key: d.Key()}
	if l.Now().Sub(updatedAt) <= forgottenAfter {
		return e
	}
	if err := l.WithLock(ctx, lock, 0, func(context.Context) error { return nil }); !IsLocked(err) {
		e.Forgotten = updatedAt
	}
	return e
}
