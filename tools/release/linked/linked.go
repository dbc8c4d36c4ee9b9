// Package linked lists the modules in a binary, and their licenses. A license is an error
// unless a release is known to comply with it.
package linked

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Platform is the platform of a binary.
type Platform struct{ OS, Arch string }

// String is the platform as Go and image registries write it.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// PlatformOf returns the platform of a binary.
func PlatformOf(info *buildinfo.BuildInfo) (p Platform) {
	for _, setting := range info.Settings {
		switch setting.Key {
		case "GOOS":
			p.OS = setting.Value
		case "GOARCH":
			p.Arch = setting.Value
		}
	}
	return p
}

// Module is a linked module, with the texts to ship with it.
type Module struct {
	Path, Version string
	Licenses      []string // SPDX identifiers, in alphabetical order
	Texts         []Text   // of licenses, notices and patents, by their path in the module
}

// Text is a file that travels with a binary.
type Text struct{ Name, Content string }

type goPackage struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version, Dir string }
	}
}

// Modules returns those in a platform's binary of the repository in dir, by path, with Go's
// standard library. It only reads the folders of linked packages, and those above them: a
// license elsewhere in a module is about something else.
func Modules(ctx context.Context, dir string, p Platform) ([]Module, error) {
	listed, err := runGo(ctx, dir, p, "list", "-deps", "-json=ImportPath,Dir,Standard,Module", ".")
	if err != nil {
		return nil, err
	}
	installed, err := runGo(ctx, dir, p, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, err
	}
	version, goroot, _ := strings.Cut(strings.TrimSpace(installed), "\n")
	found := map[string]*Module{"std": {Path: "std", Version: strings.TrimPrefix(version, "go")}}
	read := map[string]bool{}
	wrong := found["std"].read(goroot, goroot, read)
	for packages := json.NewDecoder(strings.NewReader(listed)); ; {
		var of goPackage
		if err := packages.Decode(&of); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if of.Standard || of.Module.Main {
			continue
		}
		if of.Module.Replace != nil {
			wrong = append(wrong, fmt.Errorf("%s is replaced by %s: a release is built from what is published", of.Module.Path, of.Module.Replace.Path))
			continue
		}
		m := found[of.Module.Path]
		if m == nil {
			m = &Module{Path: of.Module.Path, Version: of.Module.Version}
			found[of.Module.Path] = m
		}
		wrong = append(wrong, m.read(of.Module.Dir, of.Dir, read)...)
	}
	modules := make([]Module, 0, len(found))
	for _, m := range found {
		if len(m.Licenses) == 0 {
			wrong = append(wrong, fmt.Errorf("%s %s has no known license: find it out, or remove the module", m.Path, m.Version))
		}
		slices.Sort(m.Licenses)
		slices.SortFunc(m.Texts, func(a, b Text) int { return strings.Compare(a.Name, b.Name) })
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return modules, errors.Join(wrong...)
}

func runGo(ctx context.Context, dir string, p Platform, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out), nil
}

// read adds the licenses of a package's folder and of those above it, up to the module's own.
func (m *Module) read(root, dir string, read map[string]bool) (wrong []error) {
	for ; !read[dir] && strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		read[dir] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			return append(wrong, err)
		}
		for _, entry := range entries {
			kind := kindOf(entry.Name())
			if kind == other || entry.IsDir() {
				continue
			}
			content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				return append(wrong, err)
			}
			name, _ := filepath.Rel(root, filepath.Join(dir, entry.Name()))
			m.Texts = append(m.Texts, Text{filepath.ToSlash(name), string(content)})
			if kind != license {
				continue
			}
			ids, err := Classify(content)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s %s, %s: %w", m.Path, m.Version, name, err))
			}
			for _, id := range ids {
				if !slices.Contains(m.Licenses, id) {
					m.Licenses = append(m.Licenses, id)
				}
			}
		}
	}
	return wrong
}

// Check compares modules with what the linker wrote into a binary.
func Check(info *buildinfo.BuildInfo, modules []Module) error {
	of := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		of[m.Path] = m.Version
	}
	for _, m := range modules {
		if of[m.Path] != m.Version {
			return fmt.Errorf("it has %s %q, but the licenses that were collected are those of %q", m.Path, of[m.Path], m.Version)
		}
		delete(of, m.Path)
	}
	for path, version := range of {
		return fmt.Errorf("it has %s %s, whose license was not collected", path, version)
	}
	return nil
}
