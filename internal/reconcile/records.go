package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// held is a document together with the revision it was read at.
type held[T declaration.Body] struct {
	value    T
	revision store.Revision
}

// exists reports whether the document was there.
func (h held[T]) exists() bool { return h.revision != "" }

// documentName is what errors call a document.
func documentName(s store.Store, key store.Key) string {
	return fmt.Sprintf("%s in the store %s", key, s)
}

func load[T declaration.Body](ctx context.Context, s store.Store, kind store.Kind, name string) (held[T], error) {
	doc, err := s.Read(ctx, store.Key{Kind: kind, Name: name})
	if errors.Is(err, store.ErrNotFound) {
		return held[T]{}, nil
	}
	if err != nil {
		return held[T]{}, err
	}
	value, err := declaration.Decode[T](documentName(s, doc.Key), doc.Data)
	return held[T]{value: value, revision: doc.Revision}, err
}

// decodeListed reads what was listed. One that is listed without contents is read
// by itself, since only that says why.
func decodeListed[T declaration.Body](ctx context.Context, s store.Store, doc store.Document) (T, error) {
	if len(doc.Data) == 0 {
		var err error
		if doc, err = s.Read(ctx, doc.Key); err != nil {
			var none T
			return none, err
		}
	}
	return declaration.Decode[T](documentName(s, doc.Key), doc.Data)
}

func save[T declaration.Body](ctx context.Context, s store.Store, kind store.Kind, name string, h held[T], value T) (held[T], error) {
	data, err := declaration.Encode(value)
	if err != nil {
		return h, err
	}
	revision, err := s.Write(ctx, store.Key{Kind: kind, Name: name}, data, h.revision)
	if err != nil {
		return h, fmt.Errorf("writing %s/%s to the store %s: %w", kind, name, s, err)
	}
	return held[T]{value: value, revision: revision}, nil
}

func remove(ctx context.Context, s store.Store, kind store.Kind, name string, revision store.Revision) error {
	err := s.Delete(ctx, store.Key{Kind: kind, Name: name}, revision)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// sameDocument reports whether two values are written alike.
func sameDocument[T any](a, b T) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

type (
	record  = held[declaration.SpotPool]
	journal = held[spotpool.Journal]
)

func (e *Engine) loadRecord(ctx context.Context, key string) (record, error) {
	return load[declaration.SpotPool](ctx, e.Store, store.SpotPools, key)
}

func (e *Engine) saveRecord(ctx context.Context, r record, phase declaration.Phase, d spotpool.Declaration) (record, error) {
	return save(ctx, e.Store, store.SpotPools, d.Key(), r, declaration.SpotPool{
		Phase: phase, Declaration: d, UpdatedAt: time.Now().UTC().Truncate(time.Second), UpdatedBy: e.Actor,
	})
}

// journalName keeps a pool's journal apart from that of an earlier pool of the
// same name.
func journalName(d spotpool.Declaration) string { return d.Key() + "/" + d.UID }

func (e *Engine) loadJournal(ctx context.Context, d spotpool.Declaration) (journal, error) {
	return load[spotpool.Journal](ctx, e.Store, store.Journals, journalName(d))
}

// ownJournal loads the journal for whoever holds the pool's lock, and gives one
// that is new, or was lost, its salt: nothing is launched without.
func (e *Engine) ownJournal(ctx context.Context, d spotpool.Declaration) (journal, error) {
	j, err := e.loadJournal(ctx, d)
	if err != nil || j.value.Salt != "" {
		return j, err
	}
	return e.saveJournal(ctx, d, j, j.value.Salted(randomID()))
}

func (e *Engine) saveJournal(ctx context.Context, d spotpool.Declaration, j journal, value spotpool.Journal) (journal, error) {
	return save(ctx, e.Store, store.Journals, journalName(d), j, value)
}

// keepJournal writes down what was noticed. Whoever holds the pool's lock notices
// the same, and must not find the journal changed under it; so does who wrote it
// meanwhile.
func (e *Engine) keepJournal(ctx context.Context, d spotpool.Declaration, j journal, value spotpool.Journal) error {
	if sameDocument(j.value, value) {
		return nil
	}
	err := e.withNamedLock(ctx, lockName(d.Key()), 0, func(ctx context.Context) error {
		// Nothing is kept of a pool that was destroyed since it was looked at.
		if r, err := e.loadRecord(ctx, d.Key()); err != nil || !r.exists() || r.value.Declaration.UID != d.UID {
			return err
		}
		_, err := e.saveJournal(ctx, d, j, value)
		return err
	})
	if isLocked(err) || errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

func (e *Engine) loadTombstone(ctx context.Context, uid string) (held[declaration.Tombstone], error) {
	return load[declaration.Tombstone](ctx, e.Store, store.Tombstones, uid)
}

// lockName is the lock of one pool.
func lockName(key string) string { return "spot_pool/" + key }

// createLockName is the lock of who creates a pool, for as long as that takes.
func createLockName(key string) string { return "create/" + lockName(key) }

// withLock runs do while the pool's lock is held. The context given to do ends
// when the lock is lost.
func (e *Engine) withLock(ctx context.Context, key string, do func(ctx context.Context) error) error {
	return e.withNamedLock(ctx, lockName(key), e.LockTimeout, do)
}

func (e *Engine) withNamedLock(ctx context.Context, name string, wait time.Duration, do func(ctx context.Context) error) (err error) {
	lock, err := e.Store.Lock(ctx, name, wait)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-lock.Lost():
			cancel(fmt.Errorf("the lock %q was lost", name))
		case <-done:
		}
	}()
	defer func() { err = errors.Join(err, lock.Release()) }()
	return do(ctx)
}

// isLocked reports whether err says that someone else holds a lock.
func isLocked(err error) bool {
	var locked *store.LockedError
	return errors.As(err, &locked)
}

// splitKey takes "ap-singapore/train" apart.
func splitKey(key string) (region, name string, ok bool) {
	region, name, ok = strings.Cut(key, "/")
	return region, name, ok && region != "" && name != ""
}
