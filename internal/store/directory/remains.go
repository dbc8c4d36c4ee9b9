package directory

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Remains is a directory with the documents of a store that lost its description.
type Remains struct{ store *Store }

var _ store.Remains = (*Remains)(nil)

// OpenRemains opens a directory that need not be a store. If the directory does not exist, the
// error wraps store.ErrNoStore.
func OpenRemains(path string) (*Remains, error) {
	s, err := at(path, "")
	if err != nil {
		return nil, err
	}
	f, err := s.enter()
	if err != nil {
		return nil, err
	}
	f.leave()
	return &Remains{s}, nil
}

// String names the place as the flag --store does.
func (r *Remains) String() string { return r.store.String() }

// List returns every document of a kind, sorted by name.
func (r *Remains) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	return r.store.list(ctx, kind, func(*folder) error { return nil })
}

// Strange returns the files and folders that no store of this gpupool has.
func (r *Remains) Strange(context.Context) ([]string, error) {
	f, err := r.store.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	names, err := f.foreignNames()
	if err != nil {
		return nil, fmt.Errorf("cannot list the contents of %s: %w", r.store, f.denied(".", err))
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(store.Kinds(), store.Kind(name)) }), nil
}

// Describe writes the store's description if there is none.
func (r *Remains) Describe(context.Context) error {
	s := r.store
	f, err := s.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	if err := s.fill(f); err != nil {
		return fmt.Errorf("cannot describe the store %s: %w", s, f.denied(".", err))
	}
	return s.checkIn(f)
}

// descriptionError returns the error for documents without a description.
func (s *Store) descriptionError() error {
	return fmt.Errorf("%w: %s has documents of a store, and no %s: %s", store.ErrUndescribed, s.path, layoutFile, store.RepairHint(s))
}

// hasDocuments reports whether any file is where a store has documents.
func (f *folder) hasDocuments() bool {
	found := false
	for _, kind := range store.Kinds() {
		_ = fs.WalkDir(f.root.FS(), string(kind), func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				found = true
				return fs.SkipAll
			}
			return err
		})
	}
	return found
}
