package directory

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// read returns a document and when its file was written.
func read(key store.Key, path string) (store.Document, time.Time, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Document{}, time.Time{}, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return store.Document{}, time.Time{}, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return store.Document{}, time.Time{}, err
	}
	return store.Document{Key: key, Revision: revisionOf(data, info.ModTime()), Data: data}, info.ModTime(), nil
}

// revisionOf makes a revision of a file's time and content. Each write gives the
// file a later time, so a document that goes from A to B and back to A has a new
// revision; the content makes the revision safe where a file system keeps
// coarser times or the file was changed by hand.
func revisionOf(data []byte, modified time.Time) store.Revision {
	sum := sha256.Sum256(data)
	return store.Revision(fmt.Sprintf("%x-%x", modified.UnixNano(), sum[:12]))
}

// replace puts data in a file whole or not at all, gives it a time later than
// the one given, and returns that time. The temporary file has one name a
// document, so that what a killed process left is overwritten by the next write.
func replace(path string, data []byte, after time.Time) (time.Time, error) {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	modified, err := writeSynced(temporary, data, after)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return time.Time{}, errors.Join(err, ignoreAbsent(os.Remove(temporary)))
	}
	return modified, syncDir(filepath.Dir(path))
}

// writeSynced writes a file to the disk itself, and returns its time, which is
// later than the one given.
func writeSynced(path string, data []byte, after time.Time) (modified time.Time, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return time.Time{}, err
	}
	info, err := f.Stat()
	// Times are kept in steps of a nanosecond, a microsecond or two seconds.
	for _, step := range []time.Duration{time.Nanosecond, time.Microsecond, 2 * time.Second} {
		if err != nil || info.ModTime().After(after) {
			break
		}
		later := after.Add(step)
		if err = os.Chtimes(path, later, later); err == nil {
			info, err = f.Stat()
		}
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), f.Sync()
}

// makeDir makes a directory inside the store, durably. It never makes the store
// itself: a store that was removed meanwhile stays removed.
func (s *Store) makeDir(path string) error {
	err := os.Mkdir(path, dirMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	parent := filepath.Dir(path)
	if errors.Is(err, fs.ErrNotExist) && parent != s.path {
		if err := s.makeDir(parent); err != nil {
			return err
		}
		if err = os.Mkdir(path, dirMode); errors.Is(err, fs.ErrExist) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return syncDir(parent)
}

// syncDir makes what was renamed or removed in a directory survive a power cut.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be flushed there, and need not
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
