package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// build is one run of go build.
type build struct {
	name      string
	dir       string
	output    string
	usually   string
	last      string
	arguments []string // flags and packages

	temporary string // folder of the go commands
}

// refresh is how often a terminal gets the state of a build.
const refresh = 200 * time.Millisecond

// run builds, and returns what the compiler printed.
func (b build) run(ctx context.Context, s *screen) (printed string, err error) {
	started := time.Now()
	// An interrupted go build leaves its files.
	b.temporary, err = os.MkdirTemp(os.Getenv("GOTMPDIR"), "gobuild-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(b.temporary) }() // nothing of value is left in it
	p := &progress{name: b.name, expected: b.expected()}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for ticker := time.NewTicker(refresh); ; {
			select {
			case now := <-ticker.C:
				s.show(p.line(now.Sub(started)), now.Sub(started))
			case <-stop:
				ticker.Stop()
				return
			}
		}
	}()
	err = b.list(ctx, p)
	if err == nil {
		err = b.goCommand(ctx, p, "build", append([]string{"-v", "-o", b.output}, b.arguments...)...).Run()
	}
	close(stop)
	<-stopped
	took := time.Since(started)
	if err != nil {
		s.end(p.line(took))
		return p.other(), err
	}
	s.end(p.summary(took))
	return p.other(), b.remember(p, took)
}

// packageFormat is the format of go list: an import path, and whether the build cache lacks
// the package. A main package also counts as stale if only its program is missing.
const packageFormat = `{{.ImportPath}} {{and .Stale (ne .Name "main")}}`

// list finds out which packages go build will compile. It downloads missing modules.
func (b build) list(ctx context.Context, p *progress) error {
	list := b.goCommand(ctx, p, "list", append([]string{"-deps", "-f", packageFormat}, b.arguments...)...)
	var packages strings.Builder
	list.Stdout = &packages
	err := list.Run()
	if err == nil {
		p.setPackages(packages.String())
	}
	return err
}

// lazily lets compilers and linkers collect less garbage, which saves a fifth of their time. The
// largest takes a third more memory.
const lazily = "GOGC=400"

// goCommand is a go command that reports its progress on standard error.
func (b build) goCommand(ctx context.Context, p *progress, verb string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", append([]string{verb}, arguments...)...)
	command.Dir, command.Env = b.dir, append(os.Environ(), "GOTMPDIR="+b.temporary)
	if os.Getenv("GOGC") == "" {
		command.Env = append(command.Env, lazily)
	}
	command.Stderr = p
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	return command
}

// expected returns how long the build takes on a build cache that lacks most of its packages.
func (b build) expected() string {
	kept, err := os.ReadFile(b.last)
	if took := strings.TrimSpace(string(kept)); err == nil && took != "" {
		return "last time " + took
	}
	if b.usually != "" {
		return "usually " + b.usually
	}
	return ""
}

// remember keeps how long the build took, unless the build cache had most of it.
func (b build) remember(p *progress, took time.Duration) error {
	if b.last == "" || !p.long() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(b.last), 0o755); err != nil {
		return err
	}
	return os.WriteFile(b.last, []byte(rounded(took)+"\n"), 0o600)
}
