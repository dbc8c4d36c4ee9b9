//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
)

// within waits for the end of a process that might hang.
func (p *started) within(t *testing.T, d time.Duration) int {
	t.Helper()
	late := time.AfterFunc(d, func() { _ = p.Process.Kill() })
	defer late.Stop()
	return p.exitCode(t)
}

// TestNoLinkInAStoreHasARunWriteElsewhere lays links into a directory
// that is theirs, before a run (of root's, where the test is) makes its store there.
func TestNoLinkInAStoreHasARunWriteElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	victim, place := filepath.Join(w.dir, "victim"), filepath.Join(w.dir, ".gpupool")
	const precious, mode = "precious", 0o640
	err := os.WriteFile(victim, []byte(precious), mode)
	if err == nil {
		err = os.Mkdir(place, 0o700)
	}
	for _, name := range []string{".store.json.tmp", "..gitignore.tmp", ".gitignore"} {
		if err == nil {
			err = os.Symlink(victim, filepath.Join(place, name))
		}
	}
	owner := os.Geteuid()
	if owner == 0 {
		owner = 12345
	}
	if err == nil {
		err = os.Chown(place, owner, -1)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, "state.json"), []byte(`{"format_version":"1.0","terraform_version":"1.9.0","values":{"root_module":{}}}`),
			0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := w.start("reconcile", "--from-state", "state.json")
	if code := p.within(t, time.Minute); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, p.stdout(), p.stderr())
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != precious {
		t.Errorf("what was outside of the store is now %q (%v)", data, err)
	}
	info, err := os.Lstat(filepath.Join(place, "store.json"))
	if err != nil || !info.Mode().IsRegular() || int(info.Sys().(*syscall.Stat_t).Uid) != owner {
		t.Errorf("the store's description is %v (%v), want a file of uid %d", info, err, owner)
	}
}

func TestAPipeInTheStoreFailsItsPoolAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 1)
	w.reclaim("train")
	pipe := filepath.Join(w.dir, ".gpupool", "spot_pools", region, "idle.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.start("reconcile", "--wait", "--timeout", "20s", "-o", "json")
	if code := p.within(t, time.Minute); code != 3 {
		t.Fatalf("exit code %d, want 3\n%s%s", code, p.stdout(), p.stderr())
	}
	pools := map[string]spotpools.Report{}
	for _, pool := range p.report(t).SpotPools {
		pools[pool.Name] = pool
	}
	if idle := pools["idle"]; idle.Outcome != outcome.Failed || idle.Error == nil || !strings.Contains(idle.Error.Message, pipe+" is a named pipe") {
		t.Errorf("idle: %+v %+v", idle, idle.Error)
	}
	if train := pools["train"]; train.Outcome == outcome.Failed {
		t.Errorf("train: %+v %+v", train, train.Error)
	}
}
