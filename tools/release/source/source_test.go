package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// repository is a commit of a program that prints what the linker told it.
func repository(t *testing.T, mod string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  mod,
		"main.go": "package main\n\nvar version, commit string\n\nfunc main() { println(version, commit) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "All of it"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-11-22T18:00:00Z", "GIT_COMMITTER_DATE=2026-11-22T18:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	return dir
}

// mod is a go.mod that names the Go of these tests.
func mod(t *testing.T) string {
	t.Helper()
	here, err := Describe("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return "module example.com/m\n\ngo 1.26.0\n\ntoolchain " + here.Go + "\n"
}

func TestTwoBuildsOfACommitAreTheSame(t *testing.T) {
	t.Parallel()
	var built []string
	for range 2 {
		s, err := Open(t.Context(), repository(t, mod(t)), "0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "program")
		if err := s.Build(t.Context(), Platform{"linux", runtime.GOARCH}, to); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), s.Commit) || strings.Contains(string(content), s.Dir) {
			t.Error("the binary does not name its commit, or names the folder it was built in")
		}
		built = append(built, string(content))
	}
	if built[0] != built[1] {
		t.Error("two builds of one commit differ")
	}
}

func TestWhatNobodyCouldBuildAgainIsRefused(t *testing.T) {
	t.Parallel()
	changed := repository(t, mod(t))
	if err := os.WriteFile(filepath.Join(changed, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ dir, version, want string }{
		"a change that is not committed": {changed, "0.1.0", "main.go"},
		"any Go":                         {repository(t, "module example.com/m\n\ngo 1.26.0\n"), "0.1.0", "toolchain"},
		"no version":                     {repository(t, mod(t)), "", "version"},
		"a tag for a version":            {repository(t, mod(t)), "v0.1.0", "version"},
	} {
		if _, err := Open(t.Context(), tt.dir, tt.version); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
