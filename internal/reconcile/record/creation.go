package record

import (
	"context"
	"fmt"
	"time"
)

// forgottenAfter is how long a creation may stand still before it counts as failed:
// longer than an apply takes.
const forgottenAfter = time.Hour

// CreationError says that a declared thing's creation is not finished, so that a run
// leaves it to terraform apply.
type CreationError struct {
	// Forgotten says that nobody goes on with it, and since when: zero where somebody
	// may.
	Forgotten time.Time
	Key       string
}

// Error says so, and who goes on with it.
func (e *CreationError) Error() string {
	if e.Forgotten.IsZero() {
		return "its creation is not finished: it is under way, or was interrupted and the next terraform apply resumes it"
	}
	return fmt.Sprintf("its creation was interrupted at %s, and nobody has gone on with it: nothing keeps it as declared until terraform apply resumes it. "+
		"Where the state that declared it is lost, import it first: terraform import ADDRESS %s", e.Forgotten.UTC().Format(time.RFC3339), e.Key)
}

// UnfinishedCreation says how an unfinished creation stands that was last written then: it is
// forgotten where it has stood still for long, and nobody has the lock under which it is
// made.
func (l Lifecycle[D]) UnfinishedCreation(ctx context.Context, d D, lock string, updatedAt time.Time) *CreationError {
	e := &CreationError{Key: d.Key()}
	if l.now().Sub(updatedAt) <= forgottenAfter {
		return e
	}
	if err := l.WithLock(ctx, lock, 0, func(context.Context) error { return nil }); !IsLocked(err) {
		e.Forgotten = updatedAt
	}
	return e
}
