package draft

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// lock is a lock among the users of the draft. The store under it is not locked, since nothing is
// written there.
type lock struct{ release func() }

func (l lock) Release() error { l.release(); return nil }

// Lost is never closed: nothing else can take the lock.
func (l lock) Lost() <-chan struct{} { return nil }

// Lock takes the named lock of the draft.
func (s *Store) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	if err := store.ValidateName(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	held := s.locks[name]
	if held == nil {
		held = make(chan struct{}, 1)
		s.locks[name] = held
	}
	s.mu.Unlock()
	taken := lock{release: sync.OnceFunc(func() { <-held })}
	locked := &store.LockedError{Name: name, Holder: "this process"}
	if ctx.Err() != nil {
		return nil, errors.Join(locked, ctx.Err())
	}
	select {
	case held <- struct{}{}: // even if there is no time to wait
		return taken, nil
	default:
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case held <- struct{}{}:
		return taken, nil
	case <-ctx.Done():
		return nil, errors.Join(locked, ctx.Err())
	case <-over.C:
		return nil, locked
	}
}

// Holder returns the holder of the named lock of the store under it.
func (s *Store) Holder(ctx context.Context, name string) (*store.Holder, error) {
	if s.under == nil {
		return nil, nil
	}
	return s.under.Holder(ctx, name)
}
