package open

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Deferred is a store that is opened when it is first used. Until Create, it can only be read: a
// store that does not exist reads as one without documents, and is not created. It is safe for
// concurrent use.
type Deferred struct {
	location store.Location
	options  Options

	mu      sync.Mutex
	under   store.Store // nil until it was found or created
	written bool        // Create opened it for writing
	absent  error       // why there was none at the last check
	refused error       // why it cannot be used; nil until that is known
}

var _ store.Store = (*Deferred)(nil)

// Defer prepares the store at a location and touches nothing.
func Defer(l store.Location, o Options) *Deferred { return &Deferred{location: l, options: o} }

// Open opens the store if it exists. If not, that is not an error: Absent says so, and the next
// read checks again. A refusal is kept, unless the context ended.
func (s *Deferred) Open(ctx context.Context) error {
	_, err := s.readable(ctx)
	return err
}

// Create opens the store for writing, and creates it if there is none.
func (s *Deferred) Create(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written || s.refused != nil {
		return s.refused
	}
	return s.open(ctx, true)
}

// Absent returns why there was no store at the last check; nil if there was one, or before the
// first check.
func (s *Deferred) Absent() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.absent
}

// readable returns the store; nil if there is none.
func (s *Deferred) readable(ctx context.Context) (store.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.under != nil || s.refused != nil {
		return s.under, s.refused
	}
	err := s.open(ctx, false)
	return s.under, err
}

// open opens the store; s.mu must be held. The cancellation of one caller must not fail the others.
func (s *Deferred) open(ctx context.Context, create bool) error {
	o := s.options
	o.Create = create
	under, err := Store(ctx, s.location, o)
	switch {
	case err == nil:
		s.under, s.written, s.absent = under, create, nil
	case errors.Is(err, store.ErrNoStore) && !create:
		s.absent, err = err, nil
	case ctx.Err() == nil:
		s.refused = err
	}
	return err
}

func (s *Deferred) writable() (store.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.written {
		return nil, fmt.Errorf("the store %s is open for reading only: this write is a bug of gpupool", s)
	}
	return s.under, nil
}

// vanished treats a store that disappeared as one that does not exist, while it is only read. A
// write must fail.
func (s *Deferred) vanished(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written || !errors.Is(err, store.ErrNoStore) {
		return false
	}
	s.under, s.absent = nil, err
	return true
}

// Location returns the location of the store.
func (s *Deferred) Location() store.Location { return s.location }

// String names the store as the flag --store does.
func (s *Deferred) String() string { return s.location.String() }

// Read returns the document of a key, or store.ErrNotFound.
func (s *Deferred) Read(ctx context.Context, key store.Key) (store.Document, error) {
	under, err := s.readable(ctx)
	if err != nil {
		return store.Document{}, err
	}
	if under != nil {
		doc, err := under.Read(ctx, key)
		if !s.vanished(err) {
			return doc, err
		}
	}
	return store.Document{}, fmt.Errorf("%s in the store %s: %w", key, s, store.ErrNotFound)
}

// List returns every document of a kind, sorted by name.
func (s *Deferred) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	under, err := s.readable(ctx)
	if err != nil || under == nil {
		return nil, err
	}
	list, err := under.List(ctx, kind)
	if s.vanished(err) {
		return nil, nil
	}
	return list, err
}

// Write replaces the document of a key if its revision is still the given one.
func (s *Deferred) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (store.Revision, error) {
	under, err := s.writable()
	if err != nil {
		return "", err
	}
	return under.Write(ctx, key, data, revision)
}

// Delete removes the document if its revision is still the given one.
func (s *Deferred) Delete(ctx context.Context, key store.Key, revision store.Revision) error {
	under, err := s.writable()
	if err != nil {
		return err
	}
	return under.Delete(ctx, key, revision)
}

// Lock takes the named lock.
func (s *Deferred) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	under, err := s.writable()
	if err != nil {
		return nil, err
	}
	return under.Lock(ctx, name, wait)
}

// Holder returns the holder of the named lock.
func (s *Deferred) Holder(ctx context.Context, name string) (*store.Holder, error) {
	under, err := s.readable(ctx)
	if err != nil || under == nil {
		return nil, err
	}
	return under.Holder(ctx, name)
}
