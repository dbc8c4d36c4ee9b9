// Package source is what a release is made of: the commit that is checked out, the
// platforms it is built for, and how. It writes nothing into the working tree.
package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// Platform is what a binary runs on.
type Platform struct{ OS, Arch string }

// String is the platform as Go and image registries write it.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Platforms are those that a release is built for.
var Platforms = []Platform{
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"freebsd", "amd64"}, {"freebsd", "arm64"},
	{"linux", "amd64"}, {"linux", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// Source is one commit of the repository.
type Source struct {
	Dir     string
	Version string // without a v
	Commit  string
	Time    time.Time // of the commit; all that is written bears it
	Go      string    // the toolchain of go.mod, such as "go1.26.8"
}

// Describe reads what the repository in dir says of builds: enough to tell what is
// linked.
func Describe(dir string) (*Source, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	if mod.Toolchain == nil {
		return nil, errors.New("go.mod has no toolchain line: releases are built by the Go that it names")
	}
	return &Source{Dir: dir, Go: mod.Toolchain.Name}, nil
}

// Open looks at the commit that is checked out in dir, to release it. A working
// tree that differs from it is refused, for nobody could build it again.
func Open(ctx context.Context, dir, version string) (*Source, error) {
	if version == "" || strings.HasPrefix(version, "v") {
		return nil, fmt.Errorf("the version is %q: give one without a v, such as 0.1.0", version)
	}
	s, err := Describe(dir)
	if err != nil {
		return nil, err
	}
	s.Version = version
	changed, err := s.run(ctx, nil, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" {
		return nil, fmt.Errorf("the working tree differs from its commit; commit, or build in a clone:\n%s", changed)
	}
	if s.Commit, err = s.run(ctx, nil, "git", "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	seconds, err := s.run(ctx, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	s.Time = time.Unix(unix, 0).UTC()
	return s, err
}

// Build writes the binary of a platform. It holds no path of this machine, no
// symbols, and of git only what the arguments say, so that the same commit gives
// the same bytes wherever it is built, from a clone or from an archive of it.
func (s *Source) Build(ctx context.Context, p Platform, to string) error {
	return s.build(ctx, p, to, "-s -w ")
}

// BuildWithSymbols writes one that tells what it is made of.
func (s *Source) BuildWithSymbols(ctx context.Context, p Platform, to string) error {
	return s.build(ctx, p, to, "")
}

func (s *Source) build(ctx context.Context, p Platform, to, strip string) error {
	_, err := s.run(ctx, s.env(p), "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", strip+"-X main.version="+s.Version+" -X main.commit="+s.Commit, "-o", to, ".")
	return err
}

// List is what go list prints, for a platform.
func (s *Source) List(ctx context.Context, p Platform, args ...string) (string, error) {
	return s.run(ctx, s.env(p), "go", append([]string{"list"}, args...)...)
}

// env sets all that changes what Go builds, whatever the machine has set.
func (s *Source) env(p Platform) []string {
	return []string{
		"GOTOOLCHAIN=" + s.Go, "GOOS=" + p.OS, "GOARCH=" + p.Arch, "CGO_ENABLED=0",
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off",
	}
}

func (s *Source) run(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}
