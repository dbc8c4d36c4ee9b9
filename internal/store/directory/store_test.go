package directory_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

var train = store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"}

// private is a directory that a store takes, whatever the tests' umask is.
func private(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func create(t *testing.T, path string) *directory.Store {
	t.Helper()
	s, err := directory.Open(path, directory.Options{Create: true, Command: "gpupool test"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, s store.Store, key store.Key, data string, revision store.Revision) store.Revision {
	t.Helper()
	next, err := s.Write(t.Context(), key, []byte(data), revision)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func put(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree lists what is under a path: files with mode, time and content.
func tree(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(path, file)
		if err != nil {
			return err
		}
		all[name] = info.Mode().String() + " " + info.ModTime().String()
		if !entry.IsDir() {
			data, err := os.ReadFile(file)
			all[name] += " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { t.Helper(); return create(t, private(t)) })
}

func TestADamagedDocumentIsOneOfMany(t *testing.T) {
	t.Parallel()
	storetest.Damaged(t, func(t *testing.T) (store.Store, func(store.Key)) {
		t.Helper()
		root := private(t)
		return create(t, root), func(key store.Key) {
			put(t, filepath.Join(root, string(key.Kind), filepath.FromSlash(key.Name)+".json"), "")
		}
	})
}

func TestTwoOpenedStoresAreOne(t *testing.T) {
	t.Parallel()
	path := private(t)
	a, b := create(t, path), create(t, path)
	write(t, a, train, "a", "")
	d, err := b.Read(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	write(t, b, train, "b", d.Revision)
	if _, err := a.Write(t.Context(), train, []byte("c"), d.Revision); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	l, err := a.Lock(t.Context(), "run", 0)
	if err != nil {
		t.Fatal(err)
	}
	var locked *store.LockedError
	if _, err := b.Lock(t.Context(), "run", 0); !errors.As(err, &locked) || !strings.Contains(locked.Holder, "gpupool test (process ") {
		t.Errorf("got %v, want a LockedError that tells the holder", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func TestFilesAreTheDocumentsAndTheOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", ".gpupool")
	s := create(t, path)
	write(t, s, train, "{\"readable\": true}\n", "")
	l, err := s.Lock(t.Context(), "spot_pool/ap-singapore/train", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Release() }()
	for name, content := range tree(t, path) {
		private := strings.HasPrefix(content, "-rw-------") || strings.HasPrefix(content, "drwx------")
		if !private {
			t.Errorf("%s: %s", name, content)
		}
	}
	data, err := os.ReadFile(filepath.Join(path, "spot_pools", "ap-singapore", "train.json"))
	if err != nil || string(data) != "{\"readable\": true}\n" {
		t.Errorf("the file holds %q (%v)", data, err)
	}
	ignore, err := os.ReadFile(filepath.Join(path, ".gitignore"))
	if err != nil || !strings.HasSuffix(string(ignore), "\n*\n") {
		t.Errorf(".gitignore holds %q (%v)", ignore, err)
	}
}

func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	storetest.Looking(t, storetest.Place{
		Open: func(create bool) (store.Store, error) {
			return directory.Open(filepath.Join(above, "store"), directory.Options{Create: create})
		},
		Contents: func() any { return tree(t, above) },
	})
}

func TestForeignFilesAreKept(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	revision := write(t, s, train, "a", "")
	region := filepath.Join(path, "spot_pools", "ap-singapore")
	for _, name := range []string{".train.json.tmp", "train.json~", "train (copy).json", "TRAIN2.json", "notes.txt"} {
		put(t, filepath.Join(region, name), "half a docu")
	}
	list, err := s.List(t.Context(), store.SpotPools)
	if err != nil || len(list) != 1 || string(list[0].Data) != "a" {
		t.Errorf("listed %v (%v)", list, err)
	}
	write(t, s, train, "b", revision)
	if _, err := os.Stat(filepath.Join(region, ".train.json.tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed write left is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(region, "notes.txt")); err != nil {
		t.Errorf("somebody's notes: %v", err)
	}
}

func TestRevisionsMoveOnWithoutTheClock(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	write(t, s, train, "a", "")
	ahead := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(path, "spot_pools", "ap-singapore", "train.json"), ahead, ahead); err != nil {
		t.Fatal(err)
	}
	d, err := s.Read(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[store.Revision]bool{d.Revision: true}
	for range 5 {
		d.Revision = write(t, s, train, "a", d.Revision)
		if seen[d.Revision] {
			t.Fatalf("the revision %s came back", d.Revision)
		}
		seen[d.Revision] = true
	}
}

func TestFileChangedByHandConflicts(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	revision := write(t, s, train, "a", "")
	put(t, filepath.Join(path, "spot_pools", "ap-singapore", "train.json"), "b")
	if _, err := s.Write(t.Context(), train, []byte("c"), revision); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
}

func TestRemovedStoreStaysRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	s := create(t, path)
	revision := write(t, s, train, "a", "")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	_, readError := s.Read(t.Context(), train)
	_, listError := s.List(t.Context(), store.SpotPools)
	_, writeError := s.Write(t.Context(), train, []byte("b"), revision)
	_, lockError := s.Lock(t.Context(), "run", 0)
	for doing, err := range map[string]error{
		"read": readError, "list": listError, "write": writeError, "lock": lockError, "delete": s.Delete(t.Context(), train, revision),
	} {
		if !errors.Is(err, store.ErrNoStore) {
			t.Errorf("%s: got %v, want ErrNoStore", doing, err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is back: %v", err)
	}
}

func TestManyCreateOneStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := directory.Open(path, directory.Options{Create: true}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := directory.Open(path, directory.Options{}); err != nil {
		t.Error(err)
	}
}

func TestADocumentThatIsTooLargeIsNotWritten(t *testing.T) {
	t.Parallel()
	s := create(t, private(t))
	largest := strings.Repeat("a", 16<<20)
	if _, err := s.Write(t.Context(), train, []byte(largest+"a"), ""); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	write(t, s, train, largest, "")
	if d, err := s.Read(t.Context(), train); err != nil || string(d.Data) != largest {
		t.Errorf("%d bytes came back (%v)", len(d.Data), err)
	}
}
