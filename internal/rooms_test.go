// Package internal_test checks what lives where: that the pure packages can do
// no IO and know no clock, that no package imports what it must not, and that
// each says what it is for.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gpupool/terraform-provider-gpupool/"

// rooms says what a package may import beside the standard library, by prefix.
// Those that are pure may import of the standard library only what does no IO.
var rooms = map[string]struct {
	pure bool
	may  []string
}{
	"internal/duration":    {pure: true},
	"internal/printable":   {pure: true},
	"internal/weight":      {pure: true},
	"internal/wording":     {pure: true},
	"internal/problem":     {pure: true, may: []string{module + "internal/duration"}},
	"internal/spotpool":    {pure: true, may: []string{module + "internal/duration", module + "internal/problem", module + "internal/wording"}},
	"internal/gpu":         {pure: true, may: []string{module + "internal/weight", "k8s.io/api/", "k8s.io/apimachinery/", "k8s.io/component-helpers/"}},
	"internal/ledger":      {pure: true, may: []string{"github.com/parquet-go/parquet-go", "github.com/klauspost/compress/zstd"}},
	"internal/budget":      {pure: true, may: []string{module + "internal/duration", module + "internal/ledger", module + "internal/problem", module + "internal/weight", module + "internal/wording", "k8s.io/apimachinery/"}},
	"internal/declaration": {may: []string{module + "internal/printable", module + "internal/spotpool", module + "internal/budget", module + "internal/ledger"}},
	"internal/store":       {},
	"internal/reconcile": {may: []string{
		module + "internal/spotpool", module + "internal/budget", module + "internal/declaration", module + "internal/store",
	}},
	"internal/reconcile/outcome": {may: []string{module + "internal/spotpool"}},
	"internal/reconcile/record":  {may: []string{module + "internal/spotpool", module + "internal/budget", module + "internal/declaration", module + "internal/store"}},
	// Not each other: the kinds meet in documents.
	"internal/reconcile/spotpools": {may: []string{
		module + "internal/reconcile/record", module + "internal/reconcile/outcome", module + "internal/spotpool", module + "internal/budget",
		module + "internal/declaration", module + "internal/store", "golang.org/x/sync/",
	}},
	"internal/reconcile/budgets": {may: []string{
		module + "internal/reconcile/record", module + "internal/reconcile/outcome", module + "internal/budget", module + "internal/gpu", module + "internal/ledger",
		module + "internal/spotpool", module + "internal/declaration", module + "internal/store", module + "internal/duration", module + "internal/weight", "golang.org/x/sync/",
	}},
	"internal/reconcile/reconciletest": {may: []string{
		module + "internal/reconcile", module + "internal/spotpool", module + "internal/budget", module + "internal/gpu",
		module + "internal/store", module + "internal/tencent", module + "internal/cvmsim",
	}},
	"internal/store/directory": {may: []string{
		module + "internal/store", "golang.org/x/sys/",
	}},
	"internal/store/draft": {may: []string{
		module + "internal/store",
	}},
	"internal/store/kubernetes": {may: []string{
		module + "internal/store", module + "internal/kube/client", "k8s.io/",
	}},
	"internal/store/open": {may: []string{
		module + "internal/store", module + "internal/kube/client",
	}},
	"internal/kube/client": {may: []string{
		"k8s.io/", "google.golang.org/protobuf/",
	}},
	"internal/kube/cluster": {may: []string{
		module + "internal/kube/client", module + "internal/gpu", module + "internal/budget", "k8s.io/", "google.golang.org/protobuf/", "golang.org/x/sync/",
	}},
	"internal/manifests": {may: []string{
		module + "internal/budget", module + "internal/kube/cluster", module + "internal/store", "k8s.io/", "sigs.k8s.io/yaml",
	}},
	"internal/tencent": {may: []string{
		module + "internal/spotpool", "github.com/tencentcloud/tencentcloud-sdk-go/", "golang.org/x/",
	}},
	"internal/cvmsim": {}, // not the SDK, so that it can't share the SDK's mistakes
}

// impure are the packages of the standard library that reach the world, with
// what is banned about them.
var impure = map[string]string{
	"os": "IO and environment", "os/exec": "processes", "os/signal": "signals", "os/user": "environment", "io/ioutil": "IO",
	"net": "network", "net/http": "network", "syscall": "IO", "log": "output", "embed": "IO",
	"math/rand": "chance", "math/rand/v2": "chance", "crypto/rand": "chance", "runtime": "the machine", "sync": "other goroutines",
}

// clock lists what of package time reads the clock.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func TestRooms(t *testing.T) {
	t.Parallel()
	for room, rule := range rooms {
		for _, file := range sources(t, room) {
			for _, spec := range file.ast.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case imported == module+room || strings.HasPrefix(imported, module+room+"/"):
				case !strings.Contains(strings.Split(imported, "/")[0], "."):
					if why := impure[imported]; rule.pure && why != "" {
						t.Errorf("%s imports %q (%s): %s is pure", file.name, imported, why, room)
					}
				case !slices.ContainsFunc(rule.may, func(p string) bool { return strings.HasPrefix(imported+"/", p) || strings.HasPrefix(imported, p) }):
					t.Errorf("%s imports %q, which %s may not", file.name, imported, room)
				}
			}
			if rule.pure {
				noClock(t, file)
			}
		}
	}
}

// noClock fails where a file reads the clock.
func noClock(t *testing.T, file source) {
	t.Helper()
	ast.Inspect(file.ast, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := selector.X.(*ast.Ident); ok && of.Name == "time" && slices.Contains(clock, selector.Sel.Name) {
			t.Errorf("%s reads the clock by time.%s: now is a parameter", file.name, selector.Sel.Name)
		}
		return true
	})
}

// TestPackagesAreDescribed fails for a package without a doc comment.
func TestPackagesAreDescribed(t *testing.T) {
	t.Parallel()
	described := map[string]bool{}
	for _, top := range []string{"internal", "tools"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				return err
			}
			described[filepath.Dir(name)] = described[filepath.Dir(name)] || parsed.Doc != nil
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, ok := range described {
		if !ok {
			t.Errorf("the package in %s has no doc comment", dir)
		}
	}
}

// source is one Go file that isn't a test.
type source struct {
	name string
	ast  *ast.File
}

// sources parses the Go files of a room, tests and the helpers of tests left out.
func sources(t *testing.T, room string) []source {
	t.Helper()
	var files []source
	err := filepath.WalkDir(filepath.Join("..", filepath.FromSlash(room)), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// The backends of the store, what a run is made of, and the helpers of tests, are
			// rooms of their own.
			base := path.Base(filepath.ToSlash(name))
			if room == "internal/store" && base != "store" || room == "internal/reconcile" && base != "reconcile" || strings.HasSuffix(base, "test") && base != path.Base(room) || base == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		files = append(files, source{name: name, ast: parsed})
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no Go file: %v", room, err)
	}
	return files
}
