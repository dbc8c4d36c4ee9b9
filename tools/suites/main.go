// Suites prints the packages whose tests make quick, make race and make soak run, by rules:
//
//	quick  start no process: neither the package nor what its tests import runs programs.
//	race   start goroutines or share memory in gpupool: a file of the package in internal/ has a
//	       go statement, or imports sync, sync/atomic or golang.org/x/sync. What tools start are
//	       processes.
//	soak   play only a sample in make test: they draw cases, or play the rows of a matrix.
//
// It prints only packages that have tests, and that the patterns match; default: ./...
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Deps                               []string
	Match                              []string // the patterns that name it
}

var suites = map[string]func(pkg listed, all map[string]listed) (bool, error){
	"quick": func(pkg listed, all map[string]listed) (bool, error) { return !startsProcesses(pkg, all), nil },
	"race":  func(pkg listed, _ map[string]listed) (bool, error) { return sharesMemory(pkg) },
	"soak":  func(pkg listed, _ map[string]listed) (bool, error) { return samples(pkg), nil },
}

func run(args []string, stdout io.Writer) error {
	if len(args) == 0 || suites[args[0]] == nil {
		return errors.New("usage: suites quick|race|soak [PATTERN...]")
	}
	patterns := args[1:]
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := list(append([]string{"./..."}, patterns...)...)
	if err != nil {
		return err
	}
	all := map[string]listed{}
	for _, pkg := range packages {
		all[pkg.ImportPath] = pkg
	}
	for _, pkg := range packages {
		asked := slices.ContainsFunc(pkg.Match, func(pattern string) bool { return slices.Contains(patterns, pattern) })
		if !asked || len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) == 0 {
			continue
		}
		is, err := suites[args[0]](pkg, all)
		if err != nil {
			return err
		}
		if is {
			fmt.Fprintln(stdout, pkg.ImportPath)
		}
	}
	return nil
}

func list(patterns ...string) ([]listed, error) {
	const fields = "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps,Match"
	command := exec.CommandContext(context.Background(), "go", append([]string{"list", fields}, patterns...)...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var pkg listed
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, pkg)
	}
}

// starters are packages that a test imports to run programs.
var starters = []string{"os/exec", "github.com/hashicorp/terraform-plugin-testing", "github.com/rogpeppe/go-internal/testscript"}

func startsProcesses(pkg listed, all map[string]listed) bool {
	imported := slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports)
	if starts(imported) {
		return true
	}
	for _, name := range imported {
		ours, is := all[name]
		if !is {
			continue
		}
		for _, below := range append(ours.Deps, name) {
			if starts(all[below].Imports) {
				return true
			}
		}
	}
	return false
}

func starts(imports []string) bool {
	return slices.ContainsFunc(imports, func(name string) bool {
		return slices.ContainsFunc(starters, func(starter string) bool { return name == starter || strings.HasPrefix(name, starter+"/") })
	})
}

// sampling are packages that a test imports to draw cases, or to play the rows of a matrix.
var sampling = []string{
	"pgregory.net/rapid",
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest",
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults",
}

func samples(pkg listed) bool {
	return slices.ContainsFunc(slices.Concat(pkg.TestImports, pkg.XTestImports), func(name string) bool { return slices.Contains(sampling, name) })
}

// sharing are packages that a file imports if goroutines share what it has.
var sharing = []string{"sync", "sync/atomic", "golang.org/x/sync/errgroup", "golang.org/x/sync/semaphore", "golang.org/x/sync/singleflight"}

func sharesMemory(pkg listed) (bool, error) {
	if !strings.Contains(pkg.ImportPath, "/internal/") {
		return false, nil
	}
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		found := slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
			imported, _ := strconv.Unquote(spec.Path.Value)
			return slices.Contains(sharing, imported)
		})
		ast.Inspect(file, func(n ast.Node) bool {
			_, is := n.(*ast.GoStmt)
			found = found || is
			return !found
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}
