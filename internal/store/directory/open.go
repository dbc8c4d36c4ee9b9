package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// layoutFile describes a store and the layout of its files.
const layoutFile = "store.json"

// Open opens the store in a directory. If there is none, the error wraps store.ErrNoStore, unless
// Create is set. It refuses a store, and leaves it unchanged, if a newer gpupool laid it out, or if
// its description is damaged or lost.
func Open(path string, o Options) (*Store, error) {
	s, err := at(path, o.Command)
	if err != nil {
		return nil, err
	}
	s.moving = o.Moving
	err = s.check()
	if errors.Is(err, store.ErrNoStore) && o.Create {
		err = s.create()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// at returns the store at a path, whether it exists or not.
func at(path, command string) (*Store, error) {
	location, err := store.InDirectory(path)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(location.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve the path of the store %s: %w", location, err)
	}
	if command == "" {
		command = filepath.Base(os.Args[0])
	}
	return &Store{path: absolute, location: location, command: command}, nil
}

// present returns store.ErrNoStore if there is no store, and store.ErrUndescribed if there are only
// its documents.
func (s *Store) present(f *folder) error {
	there, err := f.holds(layoutFile)
	if err == nil && !there {
		return s.checkIn(f)
	}
	if err == nil {
		err = s.unmarked(f)
	}
	return err
}

func (s *Store) absent() error {
	return fmt.Errorf("%w: %s has no %s; terraform apply and gpupool reconcile --from-state make a store, or name the right one with --store or %s",
		store.ErrNoStore, s.path, layoutFile, store.EnvironmentVariable)
}

func (s *Store) check() error {
	f, err := s.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	return s.checkIn(f)
}

func (s *Store) checkIn(f *folder) error {
	data, _, err := f.read(layoutFile)
	if errors.Is(err, fs.ErrNotExist) && f.hasDocuments() {
		// A new store gets its description before any document, so a missing one was lost.
		if data, _, err = f.read(layoutFile); errors.Is(err, fs.ErrNotExist) {
			return s.descriptionError()
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.absent()
	case err != nil:
		return fmt.Errorf("cannot open the store %s: %w", s, f.denied(layoutFile, err))
	}
	if err := store.CheckLayout(data, s, f.whole(layoutFile), "restore it from a copy, or move that file away, and then "+store.RepairHint(s)); err != nil {
		return err
	}
	return s.unmarked(f)
}

// create creates the store, which several processes may do at once. The layout file is written
// last, and a directory without it can always be completed.
func (s *Store) create() error {
	if err := os.MkdirAll(s.path, dirMode); err != nil {
		return fmt.Errorf("cannot create the store %s: %w", s, err)
	}
	f, err := s.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	if err = f.unused(); err == nil {
		err = s.fill(f)
	} else if made := s.checkIn(f); !errors.Is(made, store.ErrNoStore) {
		return made // another process created it and wrote documents
	}
	if err != nil {
		return fmt.Errorf("cannot create the store %s: %w", s, f.denied(".", err))
	}
	return s.checkIn(f)
}

func (s *Store) fill(f *folder) error {
	w, err := f.lockWrites(context.Background(), store.Key{Name: layoutFile})
	if err != nil {
		return err
	}
	defer w.done()
	if err := s.checkIn(f); !errors.Is(err, store.ErrNoStore) && !errors.Is(err, store.ErrUndescribed) {
		return err // created by another process
	}
	const ignore = "# Records hold user data, and locks are this machine's: nothing here belongs into version control.\n*\n"
	if _, err := w.replace(".gitignore", []byte(ignore), time.Time{}); err != nil {
		return err
	}
	if _, err := w.replace(layoutFile, append(store.Layout(), '\n'), time.Time{}); err != nil {
		return err
	}
	return syncAbove(s.path)
}

// unused refuses a directory that is used for something else, so that a mistaken path does not mix
// a store with other files.
func (f *folder) unused() error {
	names, err := f.foreignNames()
	if err != nil || len(names) == 0 {
		return err
	}
	return fmt.Errorf("%s is not empty (it contains %s) and has no %s: name an empty or new directory", f.path, names[0], layoutFile)
}

// foreignNames returns the names in the directory that an empty store does not have.
func (f *folder) foreignNames() ([]string, error) {
	entries, err := f.list(".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if name != locksDir && name != layoutFile && name != store.MarkName && name != "lost+found" && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// syncAbove makes the store's own directory survive a power cut.
func syncAbove(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	above, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(above.Sync(), above.Close())
}
