package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asGobuild is the variable that makes the test binary gobuild.
const asGobuild = "TEST_AS_GOBUILD"

func TestMain(m *testing.M) {
	if os.Getenv(asGobuild) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// module creates a module with a program and a package, whose source is new to the build cache.
func module(t *testing.T, source string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/hello\n\ngo 1.26.0\n",
		"main.go":      "package main\n\nimport \"example.com/hello/part\"\n\nfunc main() { part.Hello() }\n",
		"part/part.go": "package part\n\n// " + dir + "\n" + source + "\n",
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, source string
		packages     []string
		prints       string // if it fails
	}{
		{"built", "func Hello() {}", []string{"."}, ""},
		{"does not compile", "func Hello() { missing() }", []string{"."}, "undefined: missing"},
		{"imports what does not exist", "import _ \"example.com/hello/missing\"\nfunc Hello() {}", []string{"."}, "example.com/hello/missing"},
		{"does not exist", "func Hello() {}", []string{"./missing"}, "missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, tt.source)
			b := build{name: "hello", dir: dir, output: filepath.Join(dir, "bin", "hello"), arguments: append([]string{"-buildvcs=false"}, tt.packages...)}
			var out bytes.Buffer
			printed, err := b.run(t.Context(), &screen{out: &out, every: time.Millisecond})
			if failed := tt.prints != ""; failed != (err != nil) || !strings.Contains(printed, tt.prints) || !failed && printed != "" {
				t.Errorf("it prints %q: %v", printed, err)
			}
			if _, missing := os.Stat(b.output); (err == nil) != (missing == nil) {
				t.Errorf("the program after a build with the error %v: %v", err, missing)
			}
		})
	}
}

// TestBuildCountsCompiledPackages builds again: nothing is compiled.
func TestBuildCountsCompiledPackages(t *testing.T) {
	t.Parallel()
	dir := module(t, "func Hello() {}")
	b := build{name: "hello", dir: dir, output: filepath.Join(dir, "hello"), arguments: []string{"-buildvcs=false", "."}}
	for _, lacking := range []int{1, 0} {
		p := &progress{}
		err := b.list(t.Context(), p)
		if err == nil {
			err = b.goCommand(t.Context(), p, "build", "-v", "-o", b.output, "-buildvcs=false", ".").Run()
		}
		if err != nil {
			t.Fatal(err, p.other())
		}
		if p.lacking != lacking || p.compiled != lacking || p.packages["example.com/hello/part"] != (lacking == 1) {
			t.Errorf("%d packages lack, and %d were compiled, instead of %d", p.lacking, p.compiled, lacking)
		}
	}
}

// TestInterrupt interrupts gobuild and what it started, as Ctrl-C does, while a compiler has a
// pipe open.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := module(t, "func Hello() {}")
	temporary := t.TempDir()
	held := filepath.Join(dir, "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncase \"$*\" in *-V=full*) exec \"$@\";; esac\nexec sleep 600 >" + held + "\n"
	compiler := filepath.Join(dir, "compiler")
	if err := os.WriteFile(compiler, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gobuild := exec.CommandContext(t.Context(), self, "-name", "hello", "-C", dir, "-o", filepath.Join(dir, "hello"), "--", "-toolexec="+compiler,
		"-buildvcs=false", ".")
	gobuild.Env = append(os.Environ(), asGobuild+"=1", "GOTMPDIR="+temporary)
	gobuild.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	gobuild.Stdout, gobuild.Stderr = &out, &out
	if err := gobuild.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(held) // once the compiler has it
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := syscall.Kill(-gobuild.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := gobuild.Wait(); !errors.As(err, &exit) || exit.ExitCode() != interrupted {
		t.Errorf("an interrupted gobuild ends with %v:\n%s", err, &out)
	}
	if _, err := io.ReadAll(pipe); err != nil { // until the compiler has ended
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("an interrupted build leaves %v: %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "hello")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an interrupted build leaves a program: %v", err)
	}
}
