// Package draft is a store in memory, over another store that it only reads. A dry run writes to
// it.
package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Store is another store with the writes that were made to this one.
type Store struct {
	location store.Location
	under    store.Store // nil: empty

	mu      sync.Mutex
	written map[store.Key]*store.Document // nil: deleted
	writes  int
	locks   map[string]chan struct{} // full while the lock is taken
}

// Over returns a draft of a store.
func Over(s store.Store) *Store { return draft(s.Location(), s) }

// Empty returns the draft of a store that does not exist yet.
func Empty(at store.Location) *Store { return draft(at, nil) }

func draft(at store.Location, under store.Store) *Store {
	return &Store{location: at, under: under, written: map[store.Key]*store.Document{}, locks: map[string]chan struct{}{}}
}

// String returns the name of the other store.
func (s *Store) String() string { return s.location.String() }

// Location returns the location of the other store.
func (s *Store) Location() store.Location { return s.location }

// Read returns the document of a key, or store.ErrNotFound.
func (s *Store) Read(ctx context.Context, key store.Key) (store.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read(ctx, key)
}

func (s *Store) read(ctx context.Context, key store.Key) (store.Document, error) {
	if err := cmp.Or(key.Validate(), ctx.Err()); err != nil {
		return store.Document{}, err
	}
	switch doc, drafted := s.written[key]; {
	case doc != nil:
		return clone(*doc), nil
	case drafted || s.under == nil:
		return store.Document{}, fmt.Errorf("%s in the store %s: %w", key, s, store.ErrNotFound)
	}
	return s.under.Read(ctx, key)
}

func clone(doc store.Document) store.Document {
	doc.Data = slices.Clone(doc.Data)
	return doc
}

// List returns every document of a kind, sorted by name.
func (s *Store) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if err := cmp.Or(kind.Validate(), ctx.Err()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var docs []store.Document
	if s.under != nil {
		var err error
		if docs, err = s.under.List(ctx, kind); err != nil {
			return nil, err
		}
	}
	docs = slices.DeleteFunc(docs, func(doc store.Document) bool { _, drafted := s.written[doc.Key]; return drafted })
	for doc := range maps.Values(s.written) {
		if doc != nil && doc.Key.Kind == kind {
			docs = append(docs, clone(*doc))
		}
	}
	slices.SortFunc(docs, func(a, b store.Document) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	return docs, nil
}

// Write replaces the document of a key if its revision is still the given one.
func (s *Store) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (store.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.read(ctx, key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	if old.Revision != revision {
		return "", fmt.Errorf("%s in the store %s: %w", key, s, store.ErrConflict)
	}
	s.writes++
	next := store.Revision(fmt.Sprintf("draft-%d", s.writes))
	s.written[key] = &store.Document{Key: key, Revision: next, Data: slices.Clone(data)}
	return next, nil
}

// Delete removes the document if its revision is still the given one.
func (s *Store) Delete(ctx context.Context, key store.Key, revision store.Revision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.read(ctx, key)
	if err != nil {
		return err
	}
	if old.Revision != revision {
		return fmt.Errorf("%s in the store %s: %w", key, s, store.ErrConflict)
	}
	s.written[key] = nil
	return nil
}
