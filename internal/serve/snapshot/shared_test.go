package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadersTakeTurns has a reader with many long questions. Another reader does not wait for them.
func TestReadersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKeyed[string](ages{time.Second, time.Second}, scansAtOnce)
		var scans, most atomic.Int32
		long := func(ctx context.Context) (string, error) {
			most.Store(max(most.Load(), scans.Add(1)))
			defer scans.Add(-1)
			select {
			case <-time.After(5 * time.Second):
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		busy := make(chan error, 100)
		for n := range cap(busy) {
			go func() {
				_, err := k.get(t.Context(), "hostile", fmt.Sprint("question ", n), long)
				busy <- err
			}()
		}
		synctest.Wait()
		if most.Load() != 1 {
			t.Errorf("%d scans of one reader at once", most.Load())
		}
		began := time.Now()
		for _, key := range []string{"another question", "question 99"} {
			value, err := k.get(t.Context(), "tenant", key, func(context.Context) (string, error) { return "short", nil })
			if err != nil || key == "another question" && value != "short" {
				t.Errorf("%s of another reader: %q, %v", key, value, err)
			}
		}
		if waited := time.Since(began); waited > 8*5*time.Second {
			t.Errorf("another reader waited %s", waited)
		}
		refused := 0
		for range cap(busy) {
			if err := <-busy; errors.Is(err, ErrBusy) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if refused != cap(busy)-pendingAtMost {
			t.Errorf("%d questions were refused, want all but %d", refused, pendingAtMost)
		}
		if len(k.readers) != 0 {
			t.Errorf("%d readers are left", len(k.readers))
		}
	})
}
