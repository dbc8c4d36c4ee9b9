package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	locksDir = "locks"
	// writesDir contains the locks of single writes, and the files being written. Their number is
	// fixed, so that they need not be removed.
	writesDir    = ".writes"
	writeLocks   = 64
	temporaryEnd = ".tmp"
	firstPause   = 2 * time.Millisecond
	longestWait  = 200 * time.Millisecond
)

type lock struct {
	folder  *folder
	file    *os.File // locked while it is open
	about   string   // the file that names the holder
	release func() error
}

// Lock takes the named lock, or returns *store.LockedError after waiting for the given time. The
// kernel frees the lock when the process dies.
func (s *Store) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := store.ValidateName(name); err != nil {
		return nil, err
	}
	f, err := s.enter()
	if err != nil {
		return nil, err
	}
	l, err := s.lockIn(ctx, f, name, wait)
	if err != nil {
		f.leave()
		return nil, err
	}
	return l, nil
}

func (s *Store) lockIn(ctx context.Context, f *folder, name string, wait time.Duration) (*lock, error) {
	path, about := lockPath(name)
	if err := f.make(filepath.Dir(path)); err != nil {
		return nil, s.explainLock(f, name, filepath.Dir(path), err)
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	file, err := f.poll(waiting, path+".lock")
	switch {
	case err != nil:
		return nil, s.explainLock(f, name, path+".lock", err)
	case file == nil && ctx.Err() != nil:
		return nil, fmt.Errorf("gave up waiting: %w: %w", &store.LockedError{Name: name, Holder: f.holderText(about)}, ctx.Err())
	case file == nil:
		return nil, &store.LockedError{Name: name, Holder: f.holderText(about)}
	}
	l := &lock{folder: f, file: file, about: about}
	l.release = sync.OnceValue(l.unlock)
	l.introduce(s.command)
	return l, nil
}

// Release releases the lock. Releasing it twice is harmless.
func (l *lock) Release() error { return l.release() }

// Lost never happens: the kernel takes no lock from a living process.
func (l *lock) Lost() <-chan struct{} { return nil }

func (l *lock) unlock() error {
	defer l.folder.leave()
	// The record of a lock's holder is only for people, so a failure to write or remove it is
	// ignored.
	_ = l.folder.remove(l.about)
	return errors.Join(unlock(l.file), l.file.Close())
}

func (l *lock) introduce(command string) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	data, err := json.Marshal(store.Holder{Command: command, PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return
	}
	_ = l.folder.remove(l.about) // of a killed holder
	if file, err := l.folder.create(l.about); err == nil {
		_, _ = file.Write(append(data, '\n'))
		_ = file.Close()
	}
}

// writing is the time in which no other process writes the document.
type writing struct {
	folder *folder
	file   *os.File
	prefix string // of the names of temporary files that only this lock's holder makes
}

// lockWrites blocks other writes of a document. It removes what killed writers left under the same
// lock.
func (f *folder) lockWrites(ctx context.Context, key store.Key) (*writing, error) {
	dir := filepath.Join(locksDir, writesDir)
	if err := f.make(dir); err != nil {
		return nil, err
	}
	hash := fnv.New32a()
	hash.Write([]byte(key.String()))
	name := fmt.Sprintf("%02x", hash.Sum32()%writeLocks)
	file, err := f.poll(ctx, filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, ctx.Err()
	}
	w := &writing{folder: f, file: file, prefix: filepath.Join(dir, name+"-")}
	if err := w.clear(); err != nil {
		w.done()
		return nil, err
	}
	return w, nil
}

func (w *writing) clear() error {
	dir, prefix := filepath.Split(w.prefix)
	entries, err := w.folder.list(filepath.Clean(dir))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), temporaryEnd) {
			err = errors.Join(err, w.folder.remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func (w *writing) done() {
	_ = unlock(w.file) // closing does it too
	_ = w.file.Close()
}

// poll tries a lock, at least once, until it has it or the context ends; then it returns no file.
// It is not a blocking flock on purpose, which a context cannot interrupt.
func (f *folder) poll(ctx context.Context, name string) (*os.File, error) {
	for pause := firstPause; ; pause = min(2*pause, longestWait) {
		file, err := f.tryLock(name)
		if file != nil || err != nil {
			return file, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, nil
		case <-timer.C:
		}
	}
}

// tryLock opens a lock's file and locks it, unless another process has. A file that was removed or
// replaced in between locks nothing.
func (f *folder) tryLock(name string) (*os.File, error) {
	file, err := f.openLock(name)
	if err != nil {
		return nil, err
	}
	locked, err := tryLock(file)
	if locked {
		if is, failed := file.Stat(); failed == nil {
			named, failed := f.root.Lstat(name)
			if failed == nil && os.SameFile(is, named) {
				return file, nil
			}
		}
	}
	return nil, errors.Join(err, file.Close())
}

// openLock opens a lock's file, and creates it if it does not exist.
func (f *folder) openLock(name string) (*os.File, error) {
	for {
		file, _, err := f.open(name, os.O_RDWR)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		if file, err = f.create(name); !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

func (s *Store) explainLock(f *folder, name, path string, err error) error {
	if absent := s.present(f); absent != nil {
		return absent
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("cannot take the lock %q of %s: its file system has no file locks; keep the store on another: %w", name, s, err)
	}
	return fmt.Errorf("cannot take the lock %q of %s: %w", name, s, f.denied(path, err))
}
