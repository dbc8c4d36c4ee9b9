package record

import (
	"context"
	"fmt"
	"time"
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

// Error says who resumes it.
func (e *CreationError) Error() string {
	if e.Forgotten.IsZero() {
		return "its creation is not finished: it is in progress, or was interrupted and the next terraform apply resumes it"
	}
	return fmt.Sprintf("its creation was interrupted at %s, and it is not managed until terraform apply resumes it. If its Terraform state is "+
		"lost, import it first: terraform import ADDRESS %s", e.Forgotten.UTC().Format(time.RFC3339), e.Key)
}

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
