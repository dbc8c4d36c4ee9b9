// Package move moves a store to another place: every document, byte by byte. The command that
// reports it is elsewhere.
//
// A move can be killed at any step and repeated, because each step is recorded in the marks of both
// stores before the next one:
//
//	mark of FROM  mark of TO   step
//	none          none         TO is empty, and the locks of FROM are free
//	none          moving from  TO is reserved, and no other command can use it
//	moving to     moving from  no command can use FROM; documents are copied and compared
//	moved to      moving from  everything is in TO
//	moved to      none         TO is in use; the documents of FROM are deleted
//
// At no step can both be used. The mark of FROM stays.
package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Move moves the store From to To.
type Move struct {
	From, To store.Movable
	// Locks are the names of the locks of From that must be free, in addition to the run lock.
	Locks []string
	// Sleep waits for a duration; nil means time.Sleep.
	Sleep func(ctx context.Context, d time.Duration) error
}

// runLock is the lock of a run, which a move holds on both stores.
const runLock = "run"

// Do completes the move. moved is false if an earlier one had finished it.
func (m Move) Do(ctx context.Context) (moved bool, err error) {
	for _, s := range []store.Movable{m.From, m.To} {
		lock, err := s.Lock(ctx, runLock, 0)
		if err != nil {
			return false, fmt.Errorf("%w: nothing was moved; try again later", err)
		}
		defer func() { _ = lock.Release() }()
	}
	from, err := m.From.Mark(ctx)
	if err != nil {
		return false, err
	}
	to, err := m.To.Mark(ctx)
	if err != nil {
		return false, err
	}
	if from != store.MovedTo(m.To.Location()) {
		if err := m.free(ctx); err != nil {
			return false, err
		}
		if err := m.reserve(ctx, from, to); err != nil {
			return false, err
		}
		if err := m.closeAndCopy(ctx); err != nil {
			return false, err
		}
		to = store.MovingFrom(m.From.Location())
	}
	if moved = to != (store.Mark{}); moved {
		if to != store.MovingFrom(m.From.Location()) {
			return false, to.Refuses(m.To)
		}
		if err := m.To.SetMark(ctx, store.Mark{}); err != nil {
			return false, err
		}
	}
	return moved, m.clear(ctx)
}

// Refuses returns why stores with these marks cannot be the ends of this move; nil if they can.
func (m Move) Refuses(from, to store.Mark) error {
	if from != (store.Mark{}) && from != store.MovingTo(m.To.Location()) {
		return from.Refuses(m.From)
	}
	if to != (store.Mark{}) && to != store.MovingFrom(m.From.Location()) && to != store.MovedTo(m.From.Location()) {
		return to.Refuses(m.To)
	}
	return nil
}

// reserve marks TO, so that no other command uses it. It must be empty, unless this move filled it
// before.
func (m Move) reserve(ctx context.Context, from, to store.Mark) error {
	reserved := store.MovingFrom(m.From.Location())
	if err := m.Refuses(from, to); err != nil || to == reserved {
		return err
	}
	if err := m.To.SetMark(ctx, reserved); err != nil {
		return err
	}
	documents, err := Contents(ctx, m.To)
	if err == nil && len(documents) > 0 {
		err = ErrNotEmpty(m.To, len(documents))
	}
	if err != nil {
		return errors.Join(err, m.To.SetMark(ctx, to))
	}
	return nil
}

// ErrNotEmpty returns the error for a store that already has documents.
func ErrNotEmpty(s fmt.Stringer, documents int) error {
	return fmt.Errorf("the store %s is not empty (documents: %d): move to an empty or new place", s, documents)
}

// closeAndCopy marks FROM, so that no command uses it, copies it, and records that.
func (m Move) closeAndCopy(ctx context.Context) error {
	if err := m.From.SetMark(ctx, store.MovingTo(m.To.Location())); err != nil {
		return err
	}
	// A process that opened FROM earlier either has a lock now, or can no longer write.
	if err := m.free(ctx); err != nil {
		return errors.Join(err, m.From.SetMark(ctx, store.Mark{}))
	}
	if err := m.copied(ctx); err != nil {
		return fmt.Errorf("the move is not finished, and nothing is lost: %w. Run gpupool store move %s %s again, or with --cancel to use the first one again",
			err, m.From.Location(), m.To.Location())
	}
	return m.From.SetMark(ctx, store.MovedTo(m.To.Location()))
}

// copied copies FROM to TO, and checks that both are the same.
func (m Move) copied(ctx context.Context) error {
	if err := m.sleep(ctx, m.From.Grace()); err != nil {
		return err
	}
	documents, err := Contents(ctx, m.From)
	if err != nil {
		return err
	}
	if err := m.copyAll(ctx, documents); err != nil {
		return err
	}
	for s, what := range map[store.Movable]string{m.From: "changed during the move", m.To: "differs from what was copied to it"} {
		again, err := Contents(ctx, s)
		if err != nil {
			return err
		}
		if !same(documents, again) {
			return fmt.Errorf("the store %s %s", s, what)
		}
	}
	return nil
}

// free returns an error if a process has a lock of FROM.
func (m Move) free(ctx context.Context) error {
	for _, name := range m.Locks {
		lock, err := m.From.Lock(ctx, name, 0)
		if err != nil {
			return fmt.Errorf("%w: nothing was moved; try again later", err)
		}
		if err := lock.Release(); err != nil {
			return err
		}
	}
	return nil
}

func (m Move) sleep(ctx context.Context, d time.Duration) error {
	if m.Sleep != nil {
		return m.Sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// copyAll makes TO have these documents and no others.
func (m Move) copyAll(ctx context.Context, documents []store.Document) error {
	there, err := Contents(ctx, m.To)
	if err != nil {
		return err
	}
	old := map[store.Key]store.Document{}
	for _, d := range there {
		old[d.Key] = d
	}
	for _, d := range documents {
		was, exists := old[d.Key]
		delete(old, d.Key)
		if exists && bytes.Equal(was.Data, d.Data) {
			continue
		}
		if _, err := m.To.Write(ctx, d.Key, d.Data, was.Revision); err != nil {
			return err
		}
	}
	for _, d := range old {
		if err := remove(ctx, m.To, d); err != nil {
			return err
		}
	}
	return nil
}

// clear deletes the documents of FROM, which TO has by now.
func (m Move) clear(ctx context.Context) error {
	documents, err := Contents(ctx, m.From)
	if err != nil {
		return err
	}
	for _, d := range documents {
		if err := remove(ctx, m.From, d); err != nil {
			return err
		}
	}
	return nil
}

func remove(ctx context.Context, s store.Store, d store.Document) error {
	if err := s.Delete(ctx, d.Key, d.Revision); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// Contents returns all documents of a store, by kind and name. An unreadable document is an error:
// a move loses nothing.
func Contents(ctx context.Context, s store.Store) ([]store.Document, error) {
	var all []store.Document
	for _, kind := range store.Kinds() {
		documents, err := s.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		for n, d := range documents {
			if len(d.Data) == 0 { // damaged, or really empty
				if documents[n], err = s.Read(ctx, d.Key); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, documents...)
	}
	return all, nil
}

func same(a, b []store.Document) bool {
	return slices.EqualFunc(a, b, func(x, y store.Document) bool { return x.Key == y.Key && bytes.Equal(x.Data, y.Data) })
}
