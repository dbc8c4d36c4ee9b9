// Package linked tells which modules a binary holds, and under which licences. A
// licence that is not known to allow what a release does with it is an error.
package linked

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/source"
)

// Module is one that is linked, with what it asks to be shipped beside it.
type Module struct {
	Path, Version string
	Licences      []string // SPDX identifiers, in alphabetical order
	Texts         []Text   // of licences, notices and patents, by their path in the module
}

// Text is a file that travels with a binary.
type Text struct{ Name, Content string }

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version, Dir string }
	}
}

// Modules are those of a platform's binary by path, Go's standard library among
// them. Only the folders of packages that are linked, and those above them, are
// looked into: a licence elsewhere in a module is about something else.
func Modules(ctx context.Context, s *source.Source, p source.Platform) ([]Module, error) {
	listed, err := s.List(ctx, p, "-deps", "-json=ImportPath,Dir,Standard,Module", ".")
	if err != nil {
		return nil, err
	}
	goroot, err := s.List(ctx, p, "-f", "{{.Root}}", "runtime")
	if err != nil {
		return nil, err
	}
	found := map[string]*Module{"std": {Path: "std", Version: strings.TrimPrefix(s.Go, "go")}}
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
		if len(m.Licences) == 0 {
			wrong = append(wrong, fmt.Errorf("%s %s has no licence that is known: see what it may be shipped under, or do without it", m.Path, m.Version))
		}
		slices.Sort(m.Licences)
		slices.SortFunc(m.Texts, func(a, b Text) int { return strings.Compare(a.Name, b.Name) })
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return modules, errors.Join(wrong...)
}

// read adds the licences of a package's folder and of those above it, up to the
// module's own.
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
			if kind != licence {
				continue
			}
			ids, err := Classify(content)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s %s, %s: %w", m.Path, m.Version, name, err))
			}
			for _, id := range ids {
				if !slices.Contains(m.Licences, id) {
					m.Licences = append(m.Licences, id)
				}
			}
		}
	}
	return wrong
}

// Check compares modules with what the linker wrote into a binary.
func Check(binary string, modules []Module) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	of := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		of[m.Path] = m.Version
	}
	for _, m := range modules {
		if of[m.Path] != m.Version {
			return fmt.Errorf("%s has %s %q, and its licences are those of %q", binary, m.Path, of[m.Path], m.Version)
		}
		delete(of, m.Path)
	}
	for path, version := range of {
		return fmt.Errorf("%s has %s %s, whose licence was not collected", binary, path, version)
	}
	return nil
}
