//go:build unix

package directory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// alice and bob are any two users of a machine. A test that runs as root plays
// them; one that doesn't has no user but its own.
var alice, bob = 12345, 65534

const asRoot = 0

// self is the user that a test is when it can be no other.
func self(uid int) int {
	if os.Geteuid() == asRoot {
		return uid
	}
	return os.Geteuid()
}

func init() {
	roles["tend"] = tend
	roles["look"] = look
}

// tend is a run: it reads, writes what is there and something new, and locks.
func tend(ctx context.Context, s store.Store) error {
	l, err := s.Lock(ctx, "run", time.Minute)
	if err != nil {
		return err
	}
	for _, key := range []store.Key{train, {Kind: store.Journals, Name: fmt.Sprint("of/", os.Geteuid(), "/", os.Getpid())}} {
		d, err := s.Read(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if _, err := s.Write(ctx, key, append(d.Data, '.'), d.Revision); err != nil {
			return err
		}
		list, err := s.List(ctx, key.Kind)
		if err != nil || !slices.ContainsFunc(list, func(d store.Document) bool { return d.Key == key && len(d.Data) > 0 }) {
			return fmt.Errorf("%s is listed in %v (%w)", key, list, err)
		}
	}
	return l.Release()
}

// look prints what is listed, and what reading it says.
func look(ctx context.Context, s store.Store) error {
	list, err := s.List(ctx, train.Kind)
	for _, d := range list {
		_, err := s.Read(ctx, d.Key)
		fmt.Printf("%s listed %q read %v\n", d.Key.Name, d.Data, err)
	}
	return err
}

// binary is this test's own, where every user may start it.
var binary = sync.OnceValues(func() (string, error) {
	own, err := os.Executable()
	if err != nil || os.Geteuid() != asRoot {
		return own, err
	}
	dir, err := os.MkdirTemp("", "everyones")
	if err != nil {
		return "", err
	}
	atEnd = append(atEnd, func() { _ = os.RemoveAll(dir) })
	in, err := os.Open(own)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(dir, "test"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	return out.Name(), errors.Join(err, out.Close(), os.Chmod(dir, 0o755))
})

func as(t *testing.T, uid int, role, path string) (said string, err error) {
	t.Helper()
	program, err := binary()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path, "GORACE=atexit_sleep_ms=0")
	cmd.Dir = "/"
	if uid != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("uid %d: %w: %s", uid, err, out.String())
	}
	return out.String(), nil
}

// home is a folder of a user where every user may look.
func home(t *testing.T, uid int) string {
	t.Helper()
	path, err := os.MkdirTemp("", "home") //nolint:usetesting // no other user may look into that one
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(path) })
	must(t, os.Chown(path, uid, -1))
	must(t, os.Chmod(path, 0o755))
	return path
}

func owners(t *testing.T, path string) map[int]bool {
	t.Helper()
	all := map[int]bool{}
	must(t, filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			all[int(info.Sys().(*syscall.Stat_t).Uid)] = true
		}
		return err
	}))
	return all
}

func TestRootsRunsLeaveAStoreToItsOwner(t *testing.T) {
	t.Parallel()
	owner := self(alice)
	path := filepath.Join(home(t, owner), "store")
	// If the test does not run as root, all of these are one user.
	for n, uid := range []int{owner, self(asRoot), owner, self(asRoot), owner} {
		if _, err := as(t, uid, "tend", path); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[int]bool{owner: true}, owners(t, path)); diff != "" {
			t.Errorf("after %d runs (-want +got)\n%s", n+1, diff)
		}
	}
	data, err := os.ReadFile(filepath.Join(path, "spot_pools", "ap-singapore", "train.json"))
	if err != nil || string(data) != "....." {
		t.Errorf("five runs wrote %q (%v)", data, err)
	}
}

// TestRootBeginsAStoreInAnothersDirectory has the directory be there, and empty.
func TestRootBeginsAStoreInAnothersDirectory(t *testing.T) {
	t.Parallel()
	owner := self(alice)
	path := filepath.Join(home(t, owner), "store")
	must(t, os.Mkdir(path, 0o755))
	must(t, os.Chown(path, owner, -1))
	for _, uid := range []int{self(asRoot), owner} {
		if _, err := as(t, uid, "tend", path); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[int]bool{owner: true}, owners(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAnotherUsersStoreIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o700, 0o755} {
		path := filepath.Join(home(t, self(alice)), "store")
		if _, err := as(t, self(alice), "tend", path); err != nil {
			t.Fatal(err)
		}
		must(t, os.Chmod(path, mode))
		if os.Geteuid() != asRoot {
			continue // there is no other user to be
		}
		before := tree(t, path)
		_, err := as(t, bob, "tend", path)
		says(t, "another user's", err, path+" belongs to ", "uid 12345", "uid 65534", "chown -R")
		must(t, os.Chown(path, asRoot, asRoot))
		_, err = as(t, bob, "look", path)
		says(t, "root's", err, path+" belongs to root (uid 0)", "run it as root")
		must(t, os.Chown(path, alice, alice))
		if diff := cmp.Diff(before, tree(t, path)); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
	}
}

func TestAFileThatCannotBeReadFailsItselfAlone(t *testing.T) {
	t.Parallel()
	owner := self(alice)
	path := filepath.Join(home(t, owner), "store")
	if _, err := as(t, owner, "tend", path); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(path, "spot_pools", "ap-singapore", "closed.json")
	put(t, file, "{}") // root's, where root lays it
	want := []string{file + " belongs to root (uid 0), and its mode is 0600: run this as root, or run chown -R "}
	if owner == os.Geteuid() {
		must(t, os.Chmod(file, 0))
		want = []string{file + " belongs to ", fmt.Sprint("uid ", owner), "its mode is 0000: give yourself the right with chmod u+rwX " + file}
	}
	said, err := as(t, owner, "look", path)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if err != nil || len(lines) != 2 || lines[1] != `ap-singapore/train listed "." read <nil>` {
		t.Fatalf("listed\n%s(%v)", said, err)
	}
	says(t, "what can't be read", errors.New(lines[0]), append(want, `ap-singapore/closed listed "" read spot_pools/ap-singapore/closed in directory:`)...)
	if _, err := as(t, owner, "tend", path); err != nil {
		t.Errorf("the rest: %v", err)
	}
	folder := filepath.Dir(file)
	must(t, os.Chmod(folder, 0))
	must(t, os.Chown(folder, self(asRoot), -1))
	_, err = as(t, owner, "look", path)
	says(t, "a folder that can't be read", err, folder+" belongs to", "its mode is 0000")
	must(t, os.Chmod(folder, 0o700))
}

// TestAThirdUsersWorkIsNotBelieved has bob own a folder, a record or a link in
// alice's store, or what leads to it.
func TestAThirdUsersWorkIsNotBelieved(t *testing.T) {
	t.Parallel()
	owner, runs := self(alice), []int{self(alice), self(asRoot)}
	path := filepath.Join(home(t, owner), "store")
	if _, err := as(t, owner, "tend", path); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != asRoot {
		return // its own work is all there is, and is believed
	}
	region := filepath.Join(path, "spot_pools", "ap-singapore")
	for file, role := range map[string]string{filepath.Join(region, "train.json"): "tend", region: "look", filepath.Join(path, "spot_pools"): "look"} {
		must(t, os.Lchown(file, bob, bob))
		for _, uid := range runs {
			_, err := as(t, uid, role, path)
			says(t, fmt.Sprint(file, " to ", uid), err, file+" belongs to ", "uid 65534", "and the store to ", "uid 12345",
				"run chown ")
		}
		must(t, os.Lchown(file, alice, alice))
	}
	alias := filepath.Join(home(t, bob), "store")
	must(t, os.Symlink(path, alias))
	must(t, os.Lchown(alias, bob, bob))
	for _, uid := range runs {
		_, err := as(t, uid, "look", alias)
		says(t, fmt.Sprint("a link to ", uid), err, alias+" is a symbolic link that", "uid 65534", " made")
	}
}

// TestRootTakesNoStoreThatAnyoneCouldHaveLaid has alice's store be where
// everybody can rename what is there. She herself would notice: what another user
// lays in its place is not hers.
func TestRootTakesNoStoreThatAnyoneCouldHaveLaid(t *testing.T) {
	t.Parallel()
	owner := self(alice)
	above := home(t, self(asRoot))
	path := filepath.Join(above, "store")
	must(t, os.Mkdir(path, 0o700))
	must(t, os.Chown(path, owner, -1))
	for mode, anyone := range map[fs.FileMode]bool{0o755: false, 0o777: true, 0o777 | fs.ModeSticky: false} {
		must(t, os.Chmod(above, mode))
		if _, err := as(t, owner, "tend", path); err != nil {
			t.Errorf("%s: the owner: %v", mode, err)
		}
		_, err := as(t, self(asRoot), "tend", path)
		if os.Geteuid() == asRoot && anyone {
			says(t, mode.String(), err, path+" belongs to ", "uid 12345", "and anyone could have put it into "+above, "chmod o-w "+above)
		} else if err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
