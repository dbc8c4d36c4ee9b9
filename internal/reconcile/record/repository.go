package record

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Repository reads and writes the documents of one store.
type Repository struct {
	// Store may be nil if only the usage of a selector is read.
	Store store.Store
	// Actor is who writes, for records: "terraform", "reconcile".
	Actor string
	// LockTimeout bounds the wait for the lock of a declaration; zero does not wait.
	LockTimeout time.Duration
	// Clock is this machine's; nil is time.Now.
	Clock func() time.Time
	// Usage reads the measurements of budgets for all who have it; see UsageReader.
	Usage *UsageReader
}

// Now is when something is written, in UTC and whole seconds.
func (k Repository) Now() time.Time {
	clock := k.Clock
	if clock == nil {
		clock = time.Now
	}
	return clock().UTC().Truncate(time.Second)
}

// Lock takes the named lock and waits up to wait. The returned context is canceled when the
// lock is lost. release releases the lock, and joins a failure of that to an error.
func (k Repository) Lock(ctx context.Context, name string, wait time.Duration) (locked context.Context, release func(*error), err error) {
	lock, err := k.Store.Lock(ctx, name, wait)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		select {
		case <-lock.Lost():
			cancel(fmt.Errorf("the lock %q was lost", name))
		case <-done:
		}
	}()
	return ctx, func(err *error) {
		*err = errors.Join(*err, lock.Release())
		close(done)
		cancel(nil)
	}, nil
}

// WithLock runs do under the named lock.
func (k Repository) WithLock(ctx context.Context, name string, wait time.Duration, do func(ctx context.Context) error) (err error) {
	ctx, release, err := k.Lock(ctx, name, wait)
	if err != nil {
		return err
	}
	defer release(&err)
	return do(ctx)
}

// IsLocked reports whether err is that another process has a lock.
func IsLocked(err error) bool {
	var locked *store.LockedError
	return errors.As(err, &locked)
}

// Tombstone reads the tombstone of a uid.
func (k Repository) Tombstone(ctx context.Context, uid string) (Document[declaration.Tombstone], error) {
	return Load[declaration.Tombstone](ctx, k.Store, store.Tombstones, uid)
}

// NewID returns 16 random bytes in hex.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}
