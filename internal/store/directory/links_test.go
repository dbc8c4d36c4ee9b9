//go:build unix

package directory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// TestNoLinkLeadsOut replaces everything that a store reads or writes by links to a file and to a
// folder outside, and runs every operation.
func TestNoLinkLeadsOut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"store.json", ".store.json.tmp", ".gitignore", "..gitignore.tmp",
		"spot_pools", "spot_pools/ap-singapore", "spot_pools/ap-singapore/train.json", "spot_pools/ap-singapore/.train.json.tmp",
		"locks", "locks/.writes", "locks/run.lock", "locks/run.json",
		"locks/.writes/*",
	} {
		for _, folder := range []bool{false, true} {
			for _, there := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					outside, path := t.TempDir(), private(t)
					put(t, filepath.Join(outside, "victim"), "precious")
					must(t, os.Chmod(filepath.Join(outside, "victim"), 0o640))
					to := outside
					if !folder {
						to = filepath.Join(outside, "victim")
					}
					if there {
						write(t, create(t, path), train, "a", "")
					}
					link(t, path, name, to)
					before := tree(t, outside)
					useAll(t, path)
					if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
						t.Errorf("outside of the store (-before +after)\n%s", diff)
					}
				})
			}
		}
	}
}

// link puts a link in the place of a name; of "*", of all that could be there.
func link(t *testing.T, path, name, to string) {
	t.Helper()
	at := filepath.Join(path, filepath.FromSlash(name))
	if filepath.Base(at) == "*" {
		for n := range 64 {
			const hex = "0123456789abcdef"
			link(t, path, filepath.Join(filepath.Dir(name), string([]byte{hex[n/16], hex[n%16]})), to)
		}
		return
	}
	must(t, os.MkdirAll(filepath.Dir(at), 0o700))
	must(t, os.RemoveAll(at))
	must(t, os.Symlink(to, at))
}

// useAll does everything with a store, whatever comes of it.
func useAll(t *testing.T, path string) {
	t.Helper()
	s, err := directory.Open(path, directory.Options{Create: true})
	if err != nil {
		return
	}
	for _, kind := range store.Kinds() {
		_, _ = s.List(t.Context(), kind)
	}
	d, _ := s.Read(t.Context(), train)
	for _, revision := range []store.Revision{"", d.Revision} {
		_, _ = s.Write(t.Context(), train, []byte("b"), revision)
	}
	if l, err := s.Lock(t.Context(), "run", 0); err == nil {
		_, _ = s.Lock(t.Context(), "run", 0)
		must(t, l.Release())
	}
	if d, err := s.Read(t.Context(), train); err == nil {
		_ = s.Delete(t.Context(), train, d.Revision)
	}
}

// TestALinkInsideIsNoDocument has one record be a link to another.
func TestALinkInsideIsNoDocument(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	write(t, s, train, "a", "")
	must(t, os.Symlink("train.json", filepath.Join(path, "spot_pools", "ap-singapore", "alias.json")))
	_, err := s.Read(t.Context(), store.Key{Kind: train.Kind, Name: "ap-singapore/alias"})
	says(t, "read", err, "alias.json is a symbolic link")
}

func TestALinkToTheStoreItselfIsFollowed(t *testing.T) {
	t.Parallel()
	path, alias := private(t), filepath.Join(t.TempDir(), "alias")
	must(t, os.Symlink(path, alias))
	revision := write(t, create(t, alias), train, "a", "")
	write(t, create(t, path), train, "b", revision)
	must(t, os.Remove(alias))
	must(t, os.Symlink(filepath.Join(path, "nowhere"), alias))
	_, err := directory.Open(alias, directory.Options{Create: true})
	says(t, "a link to nothing", err, alias)
}
