//go:build unix

package directory_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// laid are things that may stand where the store has a file, by what a refusal
// calls them.
var laid = map[string]func(t *testing.T, path string){
	"is a named pipe":          pipe,
	"has 3221225472 bytes":     sparse,
	"is a folder":              func(t *testing.T, path string) { t.Helper(); must(t, os.Mkdir(path, 0o700)) },
	"is a socket":              socket,
	"is a symbolic link":       func(t *testing.T, path string) { t.Helper(); must(t, os.Symlink("/dev/zero", path)) },
	"can be written by others": openToAll,
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pipe(t *testing.T, path string) { t.Helper(); must(t, syscall.Mkfifo(path, 0o600)) }

// sparse makes a file that is larger than memory should be, and takes no room.
func sparse(t *testing.T, path string) {
	t.Helper()
	put(t, path, "{}")
	must(t, os.Truncate(path, 3<<30))
}

func openToAll(t *testing.T, path string) {
	t.Helper()
	put(t, path, "{}")
	must(t, os.Chmod(path, 0o666))
}

func socket(t *testing.T, path string) {
	t.Helper()
	// Its address must be short.
	short, err := os.MkdirTemp("", "s") //nolint:usetesting // that one's path is too long
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(short, "s"))
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	must(t, os.Rename(filepath.Join(short, "s"), path))
}

// soon fails where something hangs.
func soon(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

func says(t *testing.T, doing string, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one that says %q", doing, texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error %q doesn't say %q", doing, err, text)
		}
	}
}

func TestSpecialFileFailsOnlyItsDocument(t *testing.T) {
	t.Parallel()
	for what, lay := range laid {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := private(t)
			s := create(t, path)
			revision := write(t, s, train, "a", "")
			bad := store.Key{Kind: train.Kind, Name: "ap-singapore/bad"}
			file := filepath.Join(path, "spot_pools", "ap-singapore", "bad.json")
			lay(t, file)
			before, err := os.Lstat(file)
			must(t, err)
			soon(t, "the store", func() {
				list, err := s.List(t.Context(), train.Kind)
				if err != nil || len(list) != 2 || list[0].Key != bad || len(list[0].Data) > 0 || list[0].Revision == "" || string(list[1].Data) != "a" {
					t.Errorf("listed %.200v (%v), want both and the first without data", list, err)
				}
				_, err = s.Read(t.Context(), bad)
				says(t, "read", err, bad.String(), file, what)
				for _, revision := range []store.Revision{"", "made-up", list[0].Revision} {
					_, err = s.Write(t.Context(), bad, []byte("b"), revision)
					says(t, "write", err, file, what)
					says(t, "delete", s.Delete(t.Context(), bad, revision), file, what)
				}
				write(t, s, train, "b", revision)
			})
			if after, err := os.Lstat(file); err != nil || !os.SameFile(before, after) {
				t.Errorf("%s was touched: %v", file, err)
			}
		})
	}
}

func TestSpecialFileIsNotAStoreDescription(t *testing.T) {
	t.Parallel()
	for what, lay := range laid {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := private(t)
			file := filepath.Join(path, "store.json")
			lay(t, file)
			for _, create := range []bool{false, true} {
				soon(t, "opening the store", func() {
					_, err := directory.Open(path, directory.Options{Create: create})
					says(t, "open", err, file, what)
					if errors.Is(err, store.ErrNoStore) {
						t.Errorf("got %v: there is something", err)
					}
				})
			}
		})
	}
}

func TestSpecialFileIsNotALock(t *testing.T) {
	t.Parallel()
	for what, lay := range laid {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := private(t)
			s := create(t, path)
			lay(t, filepath.Join(path, "locks", "run.lock"))
			soon(t, "the lock", func() {
				_, err := s.Lock(t.Context(), "run", time.Second)
				says(t, "lock", err, `the lock "run"`, filepath.Join(path, "locks", "run.lock"), what)
				l, err := s.Lock(t.Context(), "other", 0)
				must(t, err)
				about := filepath.Join(path, "locks", "other.json")
				must(t, os.Remove(about))
				lay(t, about)
				_, err = s.Lock(t.Context(), "other", 0)
				says(t, "a held lock", err, `the lock "other" is held by another process`)
				must(t, l.Release())
			})
		})
	}
}

// TestAFolderThatIsNoneHidesNothing has something else stand where the store has
// the folder of a region: what was declared in it must not seem to be gone.
func TestAFolderThatIsNoneHidesNothing(t *testing.T) {
	t.Parallel()
	for what, lay := range map[string]func(t *testing.T, path string){
		"is a named pipe":          pipe,
		"is a symbolic link":       func(t *testing.T, path string) { must(t, os.Symlink(t.TempDir(), path)) },
		"can be written by others": func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)); must(t, os.Chmod(path, 0o770)) },
	} {
		for _, name := range []string{"spot_pools", "spot_pools/ap-singapore"} {
			t.Run(what+" "+name, func(t *testing.T) {
				t.Parallel()
				path := private(t)
				s := create(t, path)
				write(t, s, train, "a", "")
				folder := filepath.Join(path, filepath.FromSlash(name))
				must(t, os.RemoveAll(folder))
				lay(t, folder)
				soon(t, "the store", func() {
					_, err := s.List(t.Context(), train.Kind)
					says(t, "list", err, folder, what)
					_, err = s.Read(t.Context(), train)
					says(t, "read", err, folder, what)
					_, err = s.Write(t.Context(), train, []byte("b"), "")
					says(t, "write", err, folder, what)
				})
			})
		}
	}
}

func TestADirectoryThatOthersCanWriteIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o777, 0o770, 0o702, 0o777 | fs.ModeSticky} {
		for _, there := range []bool{false, true} {
			path := private(t)
			if there {
				create(t, path)
			}
			must(t, os.Chmod(path, mode))
			for _, create := range []bool{false, true} {
				_, err := directory.Open(path, directory.Options{Create: create})
				says(t, mode.String(), err, path+" can be written by others", "chmod go-w "+path)
				if errors.Is(err, store.ErrNoStore) {
					t.Errorf("%s: got %v", mode, err)
				}
			}
			if entries, err := os.ReadDir(path); err != nil || !there && len(entries) > 0 {
				t.Errorf("it made %v (%v)", entries, err)
			}
		}
	}
}
