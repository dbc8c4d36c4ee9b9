package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// List returns every document of a kind, sorted by name. It ignores files with other names. A
// document that cannot be read does not fail the list; a folder that cannot be read does, since its
// documents are unknown.
func (s *Store) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	return s.list(ctx, kind, s.present)
}

func (s *Store) list(ctx context.Context, kind store.Kind, must func(*folder) error) ([]store.Document, error) {
	if err := kind.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	l := &listing{kind: kind}
	if err := l.add(ctx, f, string(kind), ""); err != nil {
		return nil, fmt.Errorf("cannot list %s in %s: %w", kind, s, err)
	}
	if err := must(f); err != nil {
		return nil, err
	}
	slices.SortFunc(l.found, func(a, b store.Document) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	return l.found, nil
}

type listing struct {
	kind  store.Kind
	found []store.Document
}

// add lists a folder and the folders below it. prefix starts the names of its documents.
func (l *listing) add(ctx context.Context, above *folder, folder, prefix string) error {
	f, err := above.below(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // just removed, or nothing of this kind yet
	}
	if err != nil {
		return above.denied(folder, err)
	}
	defer f.leave()
	entries, err := f.list(".")
	if err != nil {
		return above.denied(folder, err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := prefix + e.Name()
		key := store.Key{Kind: l.kind, Name: strings.TrimSuffix(name, extension)}
		switch {
		case key.Validate() == nil && fileOf(key) == filepath.Join(string(l.kind), filepath.FromSlash(name)):
			err = l.read(f, e.Name(), key)
		case store.ValidateName(name) != nil || e.Type().IsRegular():
		default: // a folder, or an entry with the name of one
			err = l.add(ctx, f, e.Name(), name+"/")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) read(f *folder, file string, key store.Key) error {
	d, _, err := f.documentIn(file, key)
	var unfit *unfitError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case errors.As(err, &unfit), errors.Is(err, fs.ErrPermission):
		d = store.Document{Key: key, Revision: unread}
	case err != nil:
		return err
	}
	l.found = append(l.found, d)
	return nil
}
