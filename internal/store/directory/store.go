package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Only the owner can read directories and files: records hold user data.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

const extension = ".json"

// Options define how to open a store.
type Options struct {
	// Create creates the store if there is none.
	Create bool
	// Command describes the holder of a lock to others, such as "gpupool reconcile". Default: the
	// name of the program.
	Command string
	// Moving opens the store whatever its mark.
	Moving bool
}

// Store is a store in a directory. Its 29 methods are those of a store, its mark and its locks.
// They share the folder, and the time of the last read of its mark.
type Store struct {
	path     string // absolute, so that the working directory may change
	location store.Location
	command  string
	moving   bool
}

var _ store.Store = (*Store)(nil)

// Location returns the location of the store.
func (s *Store) Location() store.Location { return s.location }

// String names the store as the flag --store does.
func (s *Store) String() string { return s.location.String() }

// Read returns the document of a key, or store.ErrNotFound.
func (s *Store) Read(ctx context.Context, key store.Key) (store.Document, error) {
	if err := check(ctx, key); err != nil {
		return store.Document{}, err
	}
	f, err := s.enter()
	if err != nil {
		return store.Document{}, err
	}
	defer f.leave()
	d, _, err := f.document(key)
	if err != nil {
		return store.Document{}, s.explain(f, key, err)
	}
	return d, nil
}

// Write replaces the document of a key if its revision is still the given one.
func (s *Store) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (store.Revision, error) {
	if err := s.Fits(key, data); err != nil {
		return "", err
	}
	var written store.Revision
	err := s.swap(ctx, key, revision, store.ErrConflict, func(w *writing, name string, modified time.Time) error {
		if err := w.folder.make(filepath.Dir(name)); err != nil {
			return err
		}
		modified, err := w.replace(name, data, modified)
		if err != nil {
			return err
		}
		written = revisionOf(data, modified)
		return nil
	})
	if err != nil {
		return "", err
	}
	return written, nil
}

// Delete removes the document if its revision is still the given one.
func (s *Store) Delete(ctx context.Context, key store.Key, revision store.Revision) error {
	return s.swap(ctx, key, revision, store.ErrNotFound, func(w *writing, name string, _ time.Time) error {
		err := w.folder.root.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		return w.folder.sync(filepath.Dir(name), nil)
	})
}

// swap calls change if the key's document still has the revision, and blocks other changes
// meanwhile. If the document had a revision and was deleted, it returns gone.
func (s *Store) swap(ctx context.Context, key store.Key, revision store.Revision, gone error,
	change func(w *writing, name string, modified time.Time) error) error {
	if err := check(ctx, key); err != nil {
		return err
	}
	f, err := s.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	w, err := f.lockWrites(ctx, key)
	if err != nil {
		return s.explain(f, key, err)
	}
	defer w.done()
	if err := s.unmarked(f); err != nil {
		return err
	}
	now, modified, err := f.document(key)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return s.explain(f, key, err)
	case now.Revision == revision:
	case now.Revision == "":
		return s.explain(f, key, gone)
	default:
		return s.explain(f, key, store.ErrConflict)
	}
	if err := change(w, fileOf(key), modified); err != nil {
		return s.explain(f, key, err)
	}
	return nil
}

// check must come first in every operation on a document.
func check(ctx context.Context, key store.Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return key.Validate()
}

func fileOf(key store.Key) string {
	name := filepath.FromSlash(key.Name)
	if !strings.HasSuffix(name, store.Parquet) {
		name += extension
	}
	return filepath.Join(string(key.Kind), name)
}

func (s *Store) explain(f *folder, key store.Key, err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		if absent := s.present(f); absent != nil {
			return absent
		}
	}
	return fmt.Errorf("%s in %s: %w", key, s, f.denied(fileOf(key), err))
}
