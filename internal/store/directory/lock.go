package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	locksDir = "locks"
	// writesDir holds the locks of single writes. There is a fixed number of
	// them, so that they need not be cleared away.
	writesDir   = ".writes"
	writeLocks  = 64
	firstPause  = 2 * time.Millisecond
	longestWait = 200 * time.Millisecond
)

// holder is what a lock tells of who holds it.
type holder struct {
	Command string    `json:"command"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
}

func (h holder) String() string {
	return fmt.Sprintf("%s (process %d on %s, since %s)", h.Command, h.PID, h.Host, h.Since.Format(time.RFC3339))
}

// lock is a held lock.
type lock struct {
	flock   *flock.Flock
	about   string // the file that tells who holds it
	release func() error
}

// Lock takes the named lock, or answers *store.LockedError once it has waited
// for as long as it may. The kernel gives the lock back when the process dies.
func (s *Store) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := store.ValidateName(name); err != nil {
		return nil, err
	}
	path := filepath.Join(s.path, locksDir, filepath.FromSlash(name))
	if err := s.makeDir(filepath.Dir(path)); err != nil {
		return nil, s.explainLock(name, err)
	}
	about := path + extension
	f := newFlock(path + ".lock")
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	locked, err := poll(waiting, f)
	switch {
	case err != nil:
		return nil, s.explainLock(name, err)
	case !locked && ctx.Err() != nil:
		return nil, fmt.Errorf("gave up waiting: %w: %w", &store.LockedError{Name: name, Holder: heldBy(about)}, ctx.Err())
	case !locked:
		return nil, &store.LockedError{Name: name, Holder: heldBy(about)}
	}
	l := &lock{flock: f, about: about}
	l.release = sync.OnceValue(l.unlock)
	l.introduce(s.command)
	return l, nil
}

// Release gives the lock back. Releasing twice is harmless.
func (l *lock) Release() error { return l.release() }

// Lost never happens: the kernel takes no lock away from a living process.
func (l *lock) Lost() <-chan struct{} { return nil }

func (l *lock) unlock() error {
	// What a lock tells of its holder is for people alone, so failing to remove
	// it is no failure, and neither is failing to write it.
	_ = os.Remove(l.about)
	return l.flock.Unlock()
}

func (l *lock) introduce(command string) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	data, err := json.Marshal(holder{Command: command, PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return
	}
	_ = os.WriteFile(l.about, append(data, '\n'), fileMode)
}

func heldBy(about string) string {
	var h holder
	data, err := os.ReadFile(about)
	if err != nil || json.Unmarshal(data, &h) != nil || h.PID == 0 {
		return "another process"
	}
	return h.String()
}

// lockWrites keeps others from writing a document for a moment.
func (s *Store) lockWrites(ctx context.Context, key store.Key) (unlock func(), err error) {
	dir := filepath.Join(s.path, locksDir, writesDir)
	if err := s.makeDir(dir); err != nil {
		return nil, err
	}
	hash := fnv.New32a()
	hash.Write([]byte(key.String()))
	f := newFlock(filepath.Join(dir, fmt.Sprintf("%02x", hash.Sum32()%writeLocks)))
	locked, err := poll(ctx, f)
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, ctx.Err()
	}
	return func() { _ = f.Unlock() }, nil
}

// newFlock opens for writing too, because NFS locks only what is.
func newFlock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(fileMode))
}

// poll tries a lock until it has it or the context ends, and at least once.
// Deliberately not a blocking flock, which a context can't interrupt.
func poll(ctx context.Context, f *flock.Flock) (bool, error) {
	for pause := firstPause; ; pause = min(2*pause, longestWait) {
		locked, err := f.TryLock()
		if locked || err != nil {
			return locked, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false, nil
		case <-timer.C:
		}
	}
}

func (s *Store) explainLock(name string, err error) error {
	if absent := s.present(); absent != nil {
		return absent
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("cannot take the lock %q of %s: its file system has no file locks; keep the store on another: %w", name, s, err)
	}
	return fmt.Errorf("cannot take the lock %q of %s: %w", name, s, err)
}
