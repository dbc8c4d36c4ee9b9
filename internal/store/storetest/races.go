package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	writers = 8
	rounds  = 15
)

// increment adds one to the number in a document, with as many tries as it takes.
func increment(ctx context.Context, s store.Store, key store.Key) error {
	for {
		d, err := s.Read(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		n, err := strconv.Atoi("0" + string(d.Data))
		if err != nil {
			return err
		}
		_, err = s.Write(ctx, key, []byte(strconv.Itoa(n+1)), d.Revision)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

func atOnce(t *testing.T, do func(n int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			if err := do(n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func noLostWrite(t *testing.T, s store.Store) {
	atOnce(t, func(int) error {
		for range rounds {
			if err := increment(t.Context(), s, train); err != nil {
				return err
			}
		}
		return nil
	})
	d, err := s.Read(t.Context(), train)
	if err != nil || string(d.Data) != strconv.Itoa(writers*rounds) {
		t.Errorf("%d increments gave %s (%v)", writers*rounds, d.Data, err)
	}
}

func oneCreate(t *testing.T, s store.Store) {
	var mu sync.Mutex
	var created []string
	atOnce(t, func(n int) error {
		data := fmt.Sprint("by ", n)
		_, err := s.Write(t.Context(), train, []byte(data), "")
		if errors.Is(err, store.ErrConflict) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		created = append(created, data)
		return err
	})
	d, err := s.Read(t.Context(), train)
	if err != nil || len(created) != 1 || string(d.Data) != created[0] {
		t.Errorf("created %q, and there is %q (%v)", created, d.Data, err)
	}
}
