package storetest

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Lock takes a lock.
func Lock(t *testing.T, s store.Store, name string) store.Lock {
	t.Helper()
	l, err := s.Lock(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Release releases a lock.
func Release(t *testing.T, l store.Lock) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func lockExcludes(t *testing.T, s store.Store) {
	first := Lock(t, s, "spot_pool/ap-singapore/train")
	_, err := s.Lock(t.Context(), "spot_pool/ap-singapore/train", 0)
	var locked *store.LockedError
	if !errors.As(err, &locked) || locked.Name != "spot_pool/ap-singapore/train" || locked.Holder == "" {
		t.Fatalf("the second lock: got the error %v, want a LockedError", err)
	}
	other := Lock(t, s, "run")
	above := Lock(t, s, "spot_pool/ap-singapore")
	Release(t, first)
	Release(t, first) // harmless
	second := Lock(t, s, "spot_pool/ap-singapore/train")
	Release(t, first) // and not the second's
	if _, err := s.Lock(t.Context(), "spot_pool/ap-singapore/train", 0); !errors.As(err, &locked) {
		t.Errorf("releasing a lock again gave back another's: %v", err)
	}
	for _, l := range []store.Lock{second, above, other} {
		select {
		case <-l.Lost():
			t.Error("a held lock says that it is lost")
		default:
		}
		Release(t, l)
	}
}

func lockWaits(t *testing.T, s store.Store) {
	first := Lock(t, s, "run")
	got := make(chan error)
	go func() {
		l, err := s.Lock(t.Context(), "run", time.Minute)
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("the second lock did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	Release(t, first)
	if err := <-got; err != nil {
		t.Errorf("waiting for a lock that is given back: %v", err)
	}
}

func lockEnds(t *testing.T, s store.Store) {
	held := Lock(t, s, "run")
	defer Release(t, held)
	var locked *store.LockedError
	if _, err := s.Lock(t.Context(), "run", 5*time.Millisecond); !errors.As(err, &locked) {
		t.Errorf("the wait was over: got the error %v, want a LockedError", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	_, err := s.Lock(ctx, "run", time.Hour)
	expectError(t, "the context was canceled", err, context.Canceled)
	if !errors.As(err, &locked) {
		t.Errorf("the context was canceled: got the error %v, want a LockedError in it", err)
	}
}

// lockGuards checks that only one holder has a lock at a time. The shared state is atomic, since
// the race detector does not know of a lock between processes.
func lockGuards(t *testing.T, s store.Store) {
	var taken atomic.Bool
	atOnce(t, func(int) error {
		for range rounds {
			l, err := s.Lock(t.Context(), "run", time.Minute)
			if err != nil {
				return err
			}
			if !taken.CompareAndSwap(false, true) {
				return errors.New("two hold the lock")
			}
			runtime.Gosched()
			taken.Store(false)
			if err := l.Release(); err != nil {
				return err
			}
		}
		return nil
	})
}
