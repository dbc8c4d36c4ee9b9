package directory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxDocument limits the size of a file that is read: several times that of the largest document,
// and still small for memory.
const maxDocument = 16 << 20

// folder is the open directory of the store. It reaches nothing outside, whatever links are in it.
// Names in it are relative. It has every method that touches a file, 34 in all, so that one type
// checks links, owners and modes.
type folder struct {
	root *os.Root
	path string
	// owner is the owner of the directory, and user the user of this process.
	owner, user account
}

// enter opens the directory and checks that no other user can change its content. The caller must
// leave it again.
func (s *Store) enter() (*folder, error) {
	f := &folder{path: s.path, user: thisUser()}
	info, err := f.judge()
	if err != nil {
		return nil, s.enterError(err)
	}
	if f.root, err = os.OpenRoot(s.path); err != nil {
		return nil, s.enterError(err)
	}
	opened, err := f.root.Stat(".")
	if err == nil && !os.SameFile(opened, info) {
		err = fmt.Errorf("%s was replaced while it was opened: try again", s.path)
	}
	if err != nil {
		f.leave()
		return nil, s.enterError(err)
	}
	return f, nil
}

func (s *Store) enterError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return s.absent()
	}
	return fmt.Errorf("cannot open the store %s: %w", s, err)
}

func (f *folder) leave() { _ = f.root.Close() } // writes were synced already

func (f *folder) whole(name string) string { return filepath.Join(f.path, name) }

// walk checks each folder on the path to a name in the store, and the folder of that name. None may
// be a link, or writable by others.
func (f *folder) walk(name string) error {
	for at := range prefixes(name) {
		if err := f.step(at); err != nil {
			return err
		}
	}
	return nil
}

// step checks one folder. The caller has checked the folders above it.
func (f *folder) step(name string) error {
	info, err := f.root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return f.unfit(name, "is %s where the store has a folder: move it away", kindOf(info))
	}
	return f.trust(name, info)
}

// below opens a folder inside. The caller has checked the folders above it, and must leave it
// again.
func (f *folder) below(name string) (*folder, error) {
	if err := f.step(name); err != nil {
		return nil, err
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, path: f.whole(name), owner: f.owner, user: f.user}, nil
}

// make creates a folder and its parents durably. It never creates the store's own directory: a
// store that was removed stays removed.
func (f *folder) make(name string) error {
	for at := range prefixes(name) {
		err := f.step(at)
		if !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return err
			}
			continue
		}
		if err := f.root.Mkdir(at, dirMode); errors.Is(err, fs.ErrExist) {
			continue // by another process
		} else if err != nil {
			return err
		}
		if err := f.sync(at, f.give); err != nil {
			return err
		}
		if err := f.sync(filepath.Dir(at), nil); err != nil {
			return err
		}
	}
	return nil
}

func prefixes(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if name == "." {
			return
		}
		for n, c := range name {
			if os.IsPathSeparator(uint8(c)) && !yield(name[:n]) {
				return
			}
		}
		yield(name)
	}
}

// open opens an existing file that no other user could have changed. It opens regular files only,
// since opening others could hang or have an effect. The caller has checked the folders above it.
func (f *folder) open(name string, flag int) (*os.File, fs.FileInfo, error) {
	info, err := f.root.Lstat(name)
	if err == nil {
		err = f.fit(name, info)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, flag|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	// The file may have been replaced since.
	info, err = file.Stat()
	if err == nil {
		err = f.fit(name, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// create creates a file that must not exist. The caller has checked the folders above it.
func (f *folder) create(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|openFlags, fileMode)
	if err != nil {
		return nil, err
	}
	if err := f.give(file); err != nil {
		return nil, errors.Join(err, file.Close(), f.remove(name))
	}
	return file, nil
}

// read returns the content of a file. The caller has checked the folders above it.
func (f *folder) read(name string) ([]byte, fs.FileInfo, error) {
	file, info, err := f.open(name, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = f.tooLarge(name, int64(len(data)))
	}
	if err != nil {
		return nil, nil, err
	}
	return data, info, nil
}

func (f *folder) list(name string) ([]fs.DirEntry, error) {
	dir, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	entries, err := dir.ReadDir(-1)
	return entries, errors.Join(err, dir.Close())
}

// remove removes a file, if it exists.
func (f *folder) remove(name string) error {
	err := f.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f *folder) holds(name string) (bool, error) {
	_, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode.IsRegular():
		return "a file"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// unfitError is a problem of one file or folder of the store, and of no other.
type unfitError struct{ text string }

func (e *unfitError) Error() string { return e.text }

func (f *folder) unfit(name, form string, args ...any) error {
	return &unfitError{strings.Join([]string{f.whole(name), fmt.Sprintf(form, args...)}, " ")}
}

func (f *folder) tooLarge(name string, size int64) error {
	return f.unfit(name, "has %d bytes, and no more than %d are read: restore it from a copy", size, maxDocument)
}
