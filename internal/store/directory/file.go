package directory

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func (f *folder) document(key store.Key) (store.Document, time.Time, error) {
	name := fileOf(key)
	if err := f.walk(filepath.Dir(name)); err != nil {
		return store.Document{}, time.Time{}, orNotFound(err)
	}
	return f.documentIn(name, key)
}

// documentIn reads the file of a document. The caller has checked the folders above it.
func (f *folder) documentIn(name string, key store.Key) (store.Document, time.Time, error) {
	data, info, err := f.read(name)
	if err != nil {
		return store.Document{}, time.Time{}, orNotFound(err)
	}
	return store.Document{Key: key, Revision: revisionOf(data, info.ModTime()), Data: data}, info.ModTime(), nil
}

func orNotFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return store.ErrNotFound
	}
	return err
}

// revisionOf returns the revision for a file's time and content. Each write gives the file a later
// time, so a document that changes from A to B and back to A has a new revision. The content
// matters if a file system has coarser times, or if a person edits the file.
func revisionOf(data []byte, modified time.Time) store.Revision {
	sum := sha256.Sum256(data)
	return store.Revision(fmt.Sprintf("%x-%x", modified.UnixNano(), sum[:12]))
}

// unread is the revision of a document that could not be read. No write replaces it: a caller must
// be able to read it first.
const unread store.Revision = "unread"

// replace replaces a file as a whole or not at all, gives it a time after the given one, and
// returns that time.
func (w *writing) replace(name string, data []byte, after time.Time) (time.Time, error) {
	temporary := w.prefix + rand.Text() + temporaryEnd
	modified, err := w.folder.writeSynced(temporary, data, after)
	if err == nil {
		err = w.folder.root.Rename(temporary, name)
	}
	if err != nil {
		return time.Time{}, errors.Join(err, w.folder.remove(temporary))
	}
	// A temporary file that an older gpupool left when it was killed.
	before := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+temporaryEnd)
	return modified, errors.Join(w.folder.remove(before), w.folder.sync(filepath.Dir(name), nil))
}

// writeSynced writes a new file durably, and returns its time, which is after the given one.
func (f *folder) writeSynced(name string, data []byte, after time.Time) (modified time.Time, err error) {
	file, err := f.create(name)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(data); err != nil {
		return time.Time{}, err
	}
	info, err := file.Stat()
	// File systems keep times in steps of a nanosecond, a microsecond or two seconds.
	for _, step := range []time.Duration{time.Nanosecond, time.Microsecond, 2 * time.Second} {
		if err != nil || info.ModTime().After(after) {
			break
		}
		later := after.Add(step)
		if err = f.root.Chtimes(name, later, later); err == nil {
			info, err = file.Stat()
		}
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), file.Sync()
}

// sync makes changes in a folder survive a power cut. It calls first with the folder before that.
func (f *folder) sync(name string, first func(*os.File) error) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be flushed there, and need not be
	}
	dir, err := f.root.Open(name)
	if err != nil {
		return err
	}
	if first != nil {
		err = first(dir)
	}
	return errors.Join(err, dir.Sync(), dir.Close())
}
