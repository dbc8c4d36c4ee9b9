package move_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/move"
)

// contended is a store whose lock becomes free when another process has done its work.
type contended struct {
	store.Movable
	work func() error
}

func (s contended) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	if err := s.work(); err != nil {
		return nil, err
	}
	return s.Movable.Lock(ctx, name, wait)
}

// TestCancelKeepsAMoveThatFinishedMeanwhile: else both stores could be used.
func TestCancelKeepsAMoveThatFinishedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	from, to := filled(t, a, documents()), open(t, b)
	if err := from.SetMark(t.Context(), store.MovingTo(to.Location())); err != nil {
		t.Fatal(err)
	}
	if err := to.SetMark(t.Context(), store.MovingFrom(from.Location())); err != nil {
		t.Fatal(err)
	}
	err := move.Cancel(t.Context(), contended{from, func() error {
		_, err := move.Move{From: from, To: to}.Do(t.Context())
		return err
	}}, to.Location())
	if err == nil || !strings.Contains(err.Error(), "was moved to directory:"+b) {
		t.Errorf("it says %v", err)
	}
	if usable(a) || !usable(b) {
		t.Errorf("the old store can be used: %t, the new one: %t", usable(a), usable(b))
	}
}

// TestCancelMakesAStoreUsable once: what is in use has nothing to cancel.
func TestCancelMakesAStoreUsable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	from, to := filled(t, a, documents()), open(t, b)
	if err := from.SetMark(t.Context(), store.MovingTo(to.Location())); err != nil {
		t.Fatal(err)
	}
	if err := move.Cancel(t.Context(), from, to.Location()); err != nil || !usable(a) {
		t.Errorf("canceled: %v; it can be used: %t", err, usable(a))
	}
	if err := move.Cancel(t.Context(), from, to.Location()); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("it says %v", err)
	}
}
