package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Directories and files are their owner's alone: records hold user data.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

const extension = ".json"

// Options say how to open a store.
type Options struct {
	// Create makes the store where there is none.
	Create bool
	// Command is what a lock's holder is called to others who want the lock,
	// such as "gpupool reconcile". Empty: the name of the program.
	Command string
}

// Store is a store in a directory.
type Store struct {
	path     string // absolute, so that the working directory may change
	location store.Location
	command  string
}

var _ store.Store = (*Store)(nil)

// String names the store as the flag --store does.
func (s *Store) String() string { return s.location.String() }

// Read returns the document of a key, or store.ErrNotFound.
func (s *Store) Read(ctx context.Context, key store.Key) (store.Document, error) {
	path, err := s.file(ctx, key)
	if err != nil {
		return store.Document{}, err
	}
	d, _, err := read(key, path)
	if err != nil {
		return store.Document{}, s.explain(key, err)
	}
	return d, nil
}

// List returns every document of a kind, sorted by name. Files whose names are
// none of the store's own are left out.
func (s *Store) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if err := kind.Validate(); err != nil {
		return nil, err
	}
	root := filepath.Join(s.path, string(kind))
	var list []store.Document
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile, or nothing of this kind yet
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir():
			return nil
		}
		key, ok := keyOf(kind, root, path)
		if !ok {
			return nil
		}
		d, _, err := read(key, path)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		list = append(list, d)
		return err
	})
	if err == nil {
		err = s.present()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list %s in %s: %w", kind, s, err)
	}
	slices.SortFunc(list, func(a, b store.Document) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	return list, nil
}

// Write replaces the document of a key if its revision is still the given one.
func (s *Store) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (store.Revision, error) {
	var written store.Revision
	err := s.swap(ctx, key, revision, store.ErrConflict, func(path string, modified time.Time) error {
		if err := s.makeDir(filepath.Dir(path)); err != nil {
			return err
		}
		modified, err := replace(path, data, modified)
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
	return s.swap(ctx, key, revision, store.ErrNotFound, func(path string, _ time.Time) error {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		return syncDir(filepath.Dir(path))
	})
}

// swap calls change if the key's document is still of the given revision, while
// nobody else can change it. Where it was of some revision and is gone, the
// answer is the error gone.
func (s *Store) swap(ctx context.Context, key store.Key, revision store.Revision, gone error, change func(path string, modified time.Time) error) error {
	path, err := s.file(ctx, key)
	if err != nil {
		return err
	}
	unlock, err := s.lockWrites(ctx, key)
	if err != nil {
		return s.explain(key, err)
	}
	defer unlock()
	now, modified, err := read(key, path)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return s.explain(key, err)
	case now.Revision == revision:
	case now.Revision == "":
		return s.explain(key, gone)
	default:
		return s.explain(key, store.ErrConflict)
	}
	if err := change(path, modified); err != nil {
		return s.explain(key, err)
	}
	return nil
}

// file is the path of a key's document.
func (s *Store) file(ctx context.Context, key store.Key) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := key.Validate(); err != nil {
		return "", err
	}
	return filepath.Join(s.path, string(key.Kind), filepath.FromSlash(key.Name)+extension), nil
}

// keyOf is the key whose document stands in a file, if it is one.
func keyOf(kind store.Kind, root, path string) (store.Key, bool) {
	name, ok := strings.CutSuffix(path, extension)
	if !ok {
		return store.Key{}, false
	}
	name, err := filepath.Rel(root, name)
	key := store.Key{Kind: kind, Name: filepath.ToSlash(name)}
	return key, err == nil && key.Validate() == nil
}

// explain says which document of which store an error is about.
func (s *Store) explain(key store.Key, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		if absent := s.present(); absent != nil {
			return absent
		}
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s in %s: %w: only the user who made the store can do this", key, s, err)
	}
	return fmt.Errorf("%s in %s: %w", key, s, err)
}
