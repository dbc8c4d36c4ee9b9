// Package internal_test checks the imports of packages. Pure packages can do no IO and know no
// clock, no package imports what it must not, and each states its purpose.
package internal_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gpupool/terraform-provider-gpupool/"

// rooms lists the allowed imports of each room: rooms of this module by name, and other
// packages by prefix. A room is a folder and what is in it, without those with a row of their
// own. Pure rooms only use packages of the standard library that compute.
var rooms = map[string]struct {
	pure bool
	may  []string
}{
	"internal/duration":   {pure: true},
	"internal/errorclass": {pure: true},
	"internal/printable":  {pure: true},
	"internal/weight":     {pure: true},
	"internal/wording":    {pure: true},
	"internal/reason": {pure: true, may: []string{
		module + "internal/duration", module + "internal/printable", module + "internal/wording",
	}},
	"internal/node":    {pure: true, may: []string{module + "internal/reason"}},
	"internal/problem": {pure: true, may: []string{module + "internal/reason"}},
	"internal/spotpool": {pure: true, may: []string{
		module + "internal/node", "k8s.io/apimachinery/pkg/util/validation", module + "internal/exception", module + "internal/errorclass",
		module + "internal/history", module + "internal/duration", module + "internal/problem", module + "internal/reason", module + "internal/wording",
	}},
	// The parts of a journal, not each other: the journal composes them.
	"internal/spotpool/launches": {pure: true, may: []string{module + "internal/reason", module + "internal/spotpool", module + "internal/history"}},
	"internal/spotpool/fleet": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/spotpool", module + "internal/node", module + "internal/history",
	}},
	"internal/spotpool/markets": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/spotpool", module + "internal/errorclass", module + "internal/history",
	}},
	"internal/spotpool/journal": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/spotpool", module + "internal/spotpool/launches", module + "internal/spotpool/fleet", module + "internal/spotpool/markets",
		module + "internal/node", module + "internal/history",
	}},
	"internal/spotpool/decide": {pure: true, may: []string{
		module + "internal/spotpool", module + "internal/spotpool/journal", module + "internal/spotpool/launches", module + "internal/spotpool/fleet",
		module + "internal/spotpool/markets", module + "internal/node", module + "internal/reason",
	}},
	"internal/exception": {pure: true, may: []string{module + "internal/reason", module + "internal/duration", module + "internal/history"}},
	"internal/gpu": {pure: true, may: []string{
		module + "internal/ledger", module + "internal/reason", module + "internal/weight", "k8s.io/api/", "k8s.io/apimachinery/", "k8s.io/component-helpers/",
	}},
	"internal/columns": {pure: true, may: []string{"github.com/parquet-go/parquet-go", "github.com/klauspost/compress/zstd"}},
	"internal/seal":    {pure: true},
	"internal/ledger": {pure: true, may: []string{
		module + "internal/reason", module + "internal/columns", module + "internal/ledger/document", module + "internal/ledger/packed",
	}},
	"internal/ledger/document": {pure: true, may: []string{module + "internal/columns", module + "internal/reason", module + "internal/seal"}},
	"internal/ledger/packed":   {pure: true},
	"internal/history": {pure: true, may: []string{
		module + "internal/wording", module + "internal/reason", module + "internal/columns", module + "internal/seal",
	}},
	"internal/budget": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/exception", module + "internal/history", module + "internal/duration", module + "internal/gpu", module + "internal/ledger",
		module + "internal/problem", module + "internal/weight", module + "internal/wording", "k8s.io/apimachinery/",
	}},
	"internal/budget/meter": {pure: true, may: []string{
		module + "internal/budget", module + "internal/ledger", module + "internal/weight", module + "internal/wording", "k8s.io/apimachinery/pkg/labels",
	}},
	"internal/budget/decide": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/budget", module + "internal/budget/meter", module + "internal/history", module + "internal/gpu",
		module + "internal/ledger", module + "internal/wording",
	}},
	"internal/stockpool": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/history", module + "internal/problem", module + "internal/wording", "k8s.io/api/", "k8s.io/apimachinery/",
	}},
	"internal/stockpool/drift": {pure: true, may: []string{module + "internal/reason", module + "internal/stockpool", "k8s.io/api/", "k8s.io/apimachinery/"}},
	"internal/stockpool/decide": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/stockpool", module + "internal/stockpool/drift", "k8s.io/api/", "k8s.io/apimachinery/",
	}},
	"internal/notification": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/budget", module + "internal/duration", module + "internal/history", module + "internal/problem", module + "internal/wording",
	}},
	"internal/request": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/budget", module + "internal/duration", module + "internal/exception", module + "internal/history", module + "internal/problem",
		module + "internal/stockpool", module + "internal/wording",
	}},
	"internal/declaration": {pure: true, may: []string{
		module + "internal/reason",
		module + "internal/errorclass", module + "internal/history", module + "internal/printable",
		module + "internal/spotpool", module + "internal/spotpool/journal", module + "internal/budget",
		module + "internal/notification", module + "internal/request", module + "internal/stockpool", module + "internal/wording",
	}},
	"internal/store": {may: []string{module + "internal/reason"}},
	"internal/reconcile": {may: []string{
		module + "internal/reason",
		module + "internal/history", module + "internal/reconcile/eventlog",
		module + "internal/reconcile/budgets", module + "internal/reconcile/spotpools", module + "internal/reconcile/stockpools",
		module + "internal/notification", module + "internal/reconcile/notifications",
		module + "internal/reconcile/record", module + "internal/reconcile/outcome", module + "internal/reconcile/jobs", module + "internal/request",
		module + "internal/exception", module + "internal/errorclass",
		module + "internal/spotpool", module + "internal/budget", module + "internal/stockpool",
		module + "internal/stockpool/decide", module + "internal/declaration", module + "internal/store", module + "internal/store/draft",
		module + "internal/node", "k8s.io/api/", // the parameters of changes that are only planned
	}},
	"internal/reconcile/usage": {may: []string{
		module + "internal/reason",
		module + "internal/reconcile/budgets", module + "internal/budget", module + "internal/budget/meter", module + "internal/ledger",
		"k8s.io/apimachinery/pkg/util/validation",
	}},
	"internal/reconcile/metrics": {may: []string{
		module + "internal/reconcile", module + "internal/reconcile/budgets", module + "internal/reconcile/spotpools",
		module + "internal/reconcile/stockpools", module + "internal/reconcile/outcome", module + "internal/reconcile/state",
		module + "internal/declaration", module + "internal/history", module + "internal/spotpool", module + "internal/spotpool/decide",
		module + "internal/budget", module + "internal/stockpool", module + "internal/stockpool/decide", module + "internal/errorclass",
		module + "internal/node", module + "internal/request", "github.com/prometheus/client_golang/prometheus",
	}},
	"internal/reconcile/state": {may: []string{module + "internal/declaration"}},
	"internal/reconcile/outcome": {may: []string{
		module + "internal/reason",
		module + "internal/errorclass", module + "internal/reconcile/state", module + "internal/spotpool", module + "internal/wording",
	}},
	"internal/reconcile/loop": {may: []string{
		module + "internal/reason",
		module + "internal/declaration", module + "internal/reconcile/outcome", module + "internal/reconcile/record", "golang.org/x/sync/",
	}},
	"internal/reconcile/jobs": {may: []string{
		module + "internal/reason",
		module + "internal/declaration", module + "internal/exception", module + "internal/history", module + "internal/reconcile/record",
		module + "internal/request", module + "internal/stockpool", module + "internal/store",
	}},
	"internal/reconcile/eventlog": {may: []string{module + "internal/history", module + "internal/reason", module + "internal/store"}},
	"internal/reconcile/record": {may: []string{
		module + "internal/reason",
		module + "internal/history", module + "internal/reconcile/eventlog", module + "internal/spotpool", module + "internal/stockpool",
		module + "internal/budget", module + "internal/declaration", module + "internal/notification", module + "internal/request",
		module + "internal/store", module + "internal/wording",
	}},
	// Not each other: the kinds meet in documents.
	"internal/reconcile/spotpools": {may: []string{
		module + "internal/exception", module + "internal/errorclass", module + "internal/history", module + "internal/node", module + "internal/reason",
		module + "internal/wording",
		module + "internal/reconcile/loop", module + "internal/reconcile/record", module + "internal/reconcile/outcome",
		module + "internal/reconcile/state", module + "internal/spotpool",
		module + "internal/spotpool/journal", module + "internal/spotpool/fleet", module + "internal/spotpool/launches", module + "internal/spotpool/markets",
		module + "internal/spotpool/decide",
		module + "internal/budget",
		module + "internal/declaration", module + "internal/store", "golang.org/x/sync/",
	}},
	"internal/reconcile/budgets": {may: []string{
		module + "internal/reason",
		module + "internal/exception", module + "internal/history", module + "internal/reconcile/loop", module + "internal/reconcile/record",
		module + "internal/reconcile/outcome", module + "internal/reconcile/state",
		module + "internal/budget", module + "internal/budget/meter", module + "internal/budget/decide", module + "internal/gpu", module + "internal/ledger",
		module + "internal/spotpool/journal", module + "internal/declaration", module + "internal/store", module + "internal/duration",
		module + "internal/weight", module + "internal/wording",
	}},
	"internal/reconcile/stockpools": {may: []string{
		module + "internal/reason",
		module + "internal/exception", module + "internal/history", module + "internal/reconcile/loop",
		module + "internal/reconcile/record", module + "internal/reconcile/outcome", module + "internal/reconcile/state", module + "internal/stockpool",
		module + "internal/stockpool/decide", module + "internal/stockpool/drift",
		module + "internal/budget", module + "internal/gpu", module + "internal/ledger",
		module + "internal/declaration", module + "internal/store", "k8s.io/api/",
	}},
	"internal/reconcile/notifications": {may: []string{
		module + "internal/reason",
		module + "internal/history", module + "internal/reconcile/record", module + "internal/reconcile/state", module + "internal/notification",
		module + "internal/budget", module + "internal/declaration", module + "internal/store", module + "internal/wording", "golang.org/x/sync/",
	}},
	"internal/soaktest":                       {},
	"internal/reconcile/reconciletest/faults": {may: []string{module + "internal/soaktest"}},
	"internal/reconcile/reconciletest": {may: []string{
		module + "internal/reason",
		module + "internal/soaktest",
		module + "internal/reconcile/reconciletest/faults",
		module + "internal/notification", module + "internal/reconcile/notifications",
		module + "internal/stockpool", "k8s.io/api",
		module + "internal/reconcile", module + "internal/node", module + "internal/spotpool", module + "internal/budget", module + "internal/gpu",
		module + "internal/ledger",
		module + "internal/store", module + "internal/tencent", module + "internal/cvmsim",
		module + "internal/reconcile/budgets", module + "internal/reconcile/outcome",
		module + "internal/reconcile/spotpools", module + "internal/store/directory",
	}},
	"internal/store/directory": {may: []string{
		module + "internal/store", "golang.org/x/sys/",
	}},
	"internal/store/draft": {may: []string{
		module + "internal/store",
	}},
	"internal/store/move": {may: []string{
		module + "internal/store",
	}},
	"internal/store/kubernetes": {may: []string{
		module + "internal/store", module + "internal/kube/client", "k8s.io/",
	}},
	"internal/store/open": {may: []string{
		module + "internal/store", module + "internal/store/directory", module + "internal/store/kubernetes", module + "internal/kube/client",
	}},
	"internal/kube/client": {may: []string{
		module + "internal/reason", module + "internal/errorclass", "k8s.io/", "google.golang.org/protobuf/",
	}},
	"internal/kube/cluster": {may: []string{
		module + "internal/reason",
		module + "internal/errorclass", module + "internal/kube/client", module + "internal/node", module + "internal/gpu", module + "internal/ledger",
		module + "internal/budget", module + "internal/stockpool", module + "internal/stockpool/drift",
		"k8s.io/", "google.golang.org/protobuf/", "golang.org/x/sync/",
	}},
	"internal/manifests": {may: []string{
		module + "internal/serve/access",
		module + "internal/spotpool", module + "internal/stockpool",
		module + "internal/budget", module + "internal/node", module + "internal/kube/cluster", module + "internal/store", module + "internal/store/kubernetes",
		"k8s.io/", "sigs.k8s.io/yaml", "github.com/robfig/cron/v3",
	}},
	"internal/tencent": {may: []string{
		module + "internal/reason",
		module + "internal/errorclass", module + "internal/spotpool", module + "internal/wording",
		"github.com/tencentcloud/tencentcloud-sdk-go/", "golang.org/x/",
	}},
	"internal/notice":            {may: []string{module + "internal/node"}},
	"internal/notify":            {may: []string{module + "internal/notification", module + "internal/history", module + "internal/reason"}},
	"internal/notify/notifytest": {may: []string{module + "internal/notification"}},
	"internal/serve": {may: []string{
		module + "internal/serve/access", module + "internal/serve/api", module + "internal/serve/page", module + "internal/serve/snapshot",
		module + "internal/reconcile",
		module + "internal/reconcile/metrics", "github.com/danielgtaylor/huma/v2", "github.com/prometheus/",
	}},
	"internal/serve/access": {may: []string{
		module + "internal/budget", "k8s.io/apimachinery/pkg/util/validation", "golang.org/x/sync/", "golang.org/x/time/rate",
	}},
	"internal/serve/snapshot": {may: []string{
		module + "internal/reconcile", module + "internal/reconcile/budgets", module + "internal/reconcile/eventlog", module + "internal/history",
		module + "internal/request",
		module + "internal/store",
	}},
	"internal/serve/page": {may: []string{
		module + "internal/serve/access", module + "internal/history", module + "internal/ledger", module + "internal/reconcile",
		module + "internal/reconcile/budgets", module + "internal/reconcile/eventlog", module + "internal/reconcile/outcome",
		module + "internal/reconcile/spotpools",
		module + "internal/reconcile/notifications", module + "internal/reconcile/state",
		module + "internal/reconcile/stockpools", module + "internal/reconcile/usage", module + "internal/budget", module + "internal/request",
		module + "internal/spotpool", module + "internal/wording", module + "internal/reason",
	}},
	"internal/serve/api": {may: []string{
		module + "internal/serve/access", module + "internal/serve/page", module + "internal/serve/snapshot", module + "internal/reconcile",
		module + "internal/reconcile/budgets", module + "internal/reconcile/spotpools", module + "internal/reconcile/stockpools",
		module + "internal/reconcile/eventlog", module + "internal/reconcile/outcome", module + "internal/reconcile/jobs",
		module + "internal/reconcile/usage", module + "internal/history",
		module + "internal/declaration", module + "internal/request", module + "internal/budget", module + "internal/spotpool",
		module + "internal/stockpool/decide", module + "internal/ledger", module + "internal/duration", module + "internal/reason",
		"github.com/danielgtaylor/huma/v2", "k8s.io/apimachinery/pkg/util/validation",
		module + "internal/errorclass", module + "internal/node", module + "internal/reconcile/state", module + "internal/spotpool/decide",
		module + "internal/spotpool/markets", module + "internal/stockpool",
	}},
	"internal/cvmsim": {}, // not the SDK, so that it can't share the SDK's mistakes
	"internal/provider": {may: []string{
		module + "internal/reason",
		module + "internal/notification", module + "internal/reconcile/notifications",
		module + "internal/stockpool", module + "internal/stockpool/decide", module + "internal/reconcile/stockpools",
		module + "internal/reconcile", module + "internal/reconcile/budgets", module + "internal/reconcile/spotpools", module + "internal/reconcile/record",
		module + "internal/reconcile/outcome",
		module + "internal/tencent", module + "internal/kube/client", module + "internal/kube/cluster", module + "internal/store",
		module + "internal/store/open",
		module + "internal/node", module + "internal/spotpool", module + "internal/spotpool/fleet", module + "internal/spotpool/journal",
		module + "internal/spotpool/decide", module + "internal/budget", module + "internal/gpu",
		module + "internal/budget/meter", module + "internal/duration",
		module + "internal/errorclass", module + "internal/printable", module + "internal/problem", module + "internal/weight", module + "internal/wording",
		"github.com/hashicorp/terraform-plugin-", "k8s.io/api",
	}},
	"internal/cli": {may: []string{
		module + "internal/reason",
		module + "internal/exception", module + "internal/columns", module + "internal/history", module + "internal/reconcile/eventlog",
		module + "internal/notification", module + "internal/reconcile/notifications",
		"github.com/parquet-go/parquet-go",
		module + "internal/reconcile", module + "internal/reconcile/budgets", module + "internal/reconcile/spotpools", module + "internal/reconcile/stockpools",
		module + "internal/reconcile/record", module + "internal/reconcile/outcome", module + "internal/reconcile/state",
		module + "internal/reconcile/usage", module + "internal/reconcile/metrics", module + "internal/reconcile/jobs", module + "internal/request",
		module + "internal/serve", module + "internal/serve/access", module + "internal/serve/page", module + "internal/serve/snapshot",
		module + "internal/tencent", module + "internal/kube/client", module + "internal/kube/cluster", module + "internal/store",
		module + "internal/store/draft", module + "internal/store/open", module + "internal/store/move",
		module + "internal/manifests", module + "internal/notice", module + "internal/notify", module + "internal/cvmsim", module + "internal/declaration",
		module + "internal/stockpool", module + "internal/stockpool/decide", module + "internal/stockpool/drift", module + "internal/node",
		module + "internal/spotpool", module + "internal/spotpool/markets", module + "internal/spotpool/decide", module + "internal/budget",
		module + "internal/budget/meter", module + "internal/gpu", module + "internal/reason",
		module + "internal/ledger", module + "internal/ledger/document", module + "internal/duration", module + "internal/printable",
		module + "internal/wording",
		"github.com/guptarohit/asciigraph", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/prometheus/", "golang.org/x/term", "k8s.io/api",
		"sigs.k8s.io/yaml",
	}},
}

// roomOf is the room that a package is in; empty where it has no row.
func roomOf(pkg string) string {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if _, known := rooms[pkg]; known {
			return pkg
		}
	}
	return ""
}

func TestRooms(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for pkg, files := range packages(t) {
		room := roomOf(pkg)
		rule, known := rooms[room]
		if !known {
			t.Errorf("%s is in no room: give it a row, which says what it may import", pkg)
			continue
		}
		for _, file := range files {
			for _, spec := range file.ast.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				entry := allows(room, rule.may, imported)
				used[room+" "+entry] = true
				if entry == "" {
					t.Errorf("%s imports %q, which %s may not", file.name, imported, room)
				}
			}
			if rule.pure {
				for _, reach := range reaches(file.fset, file.ast) {
					t.Errorf("%s %s: %s is pure", file.name, reach, room)
				}
			}
		}
	}
	for room, rule := range rooms {
		for _, entry := range rule.may {
			if !used[room+" "+entry] {
				t.Errorf("%s does not import %s any longer: take it off its row", room, entry)
			}
		}
	}
}

// TestOnlySomeGroupsAreLinked finds the clients of all API groups, which are 7 MB of the
// binary. Only tests may link others than those of internal/kube/client.
func TestOnlySomeGroupsAreLinked(t *testing.T) {
	t.Parallel()
	for _, files := range packages(t) {
		for _, file := range files {
			for _, spec := range file.ast.Imports {
				if spec.Path.Value == `"k8s.io/client-go/kubernetes"` {
					t.Errorf("%s imports the clients of all API groups: take kube/client.Groups", file.name)
				}
			}
		}
	}
}

// allows returns the entry of a row that allows an import; empty if none does.
func allows(room string, may []string, imported string) string {
	own, ours := strings.CutPrefix(imported, module)
	switch {
	case ours && roomOf(own) == room:
		return room
	case ours && slices.Contains(may, module+roomOf(own)):
		return module + roomOf(own)
	case ours:
		return ""
	case !strings.Contains(strings.Split(imported, "/")[0], "."):
		return "the standard library"
	}
	for _, prefix := range may {
		if !strings.HasPrefix(prefix, module) && strings.HasPrefix(imported, prefix) {
			return prefix
		}
	}
	return ""
}

// TestArrowsGoDownward fails for a row that leads back to its own room, and for a
// pure room that leads out of the pure ones.
func TestArrowsGoDownward(t *testing.T) {
	t.Parallel()
	done := map[string]bool{}
	var walk func(way []string)
	walk = func(way []string) {
		room := way[len(way)-1]
		if slices.Contains(way[:len(way)-1], room) {
			t.Errorf("a circle: %s", strings.Join(way, " → "))
			return
		}
		if done[room] {
			return
		}
		for _, entry := range rooms[room].may {
			below, ours := strings.CutPrefix(entry, module)
			if !ours {
				continue
			}
			if _, known := rooms[below]; !known {
				t.Errorf("the row of %s names %s, which has none", room, below)
			}
			if rooms[room].pure && !rooms[below].pure {
				t.Errorf("%s is pure, and imports %s, which is not", room, below)
			}
			walk(append(slices.Clip(way), below))
		}
		done[room] = true
	}
	for room := range rooms {
		walk([]string{room})
	}
}

var update = flag.Bool("update", false, "write the import map")

// TestImportMap holds depmap.txt to the imports between packages of internal, an
// arrow a line, so that a review shows a new one. A package that imports none has a
// line of its own.
func TestImportMap(t *testing.T) {
	t.Parallel()
	arrows := map[string]bool{}
	for pkg, files := range packages(t) {
		name, leaf := strings.TrimPrefix(pkg, "internal/"), true
		for _, file := range files {
			for _, spec := range file.ast.Imports {
				if imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"internal/"); ours {
					arrows[name+" -> "+imported+"\n"], leaf = true, false
				}
			}
		}
		if leaf {
			arrows[name+"\n"] = true
		}
	}
	got := []byte(strings.Join(slices.Sorted(maps.Keys(arrows)), ""))
	if *update {
		if err := os.WriteFile("depmap.txt", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("depmap.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("depmap.txt is out of date: write it with `go test ./internal -run TestImportMap -update`, and review the arrows that it adds")
	}
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

type source struct {
	name string
	fset *token.FileSet
	ast  *ast.File
}

// packages parses the Go files under internal by their packages. Tests are left out,
// and the helpers of tests that have no row; packages below such a helper are not.
func packages(t *testing.T) map[string][]source {
	t.Helper()
	found := map[string][]source{}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		pkg := path.Join("internal", filepath.ToSlash(filepath.Dir(name)))
		_, row := rooms[pkg]
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "endtoend" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(pkg, "test") && !row:
			return nil
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		found[pkg] = append(found[pkg], source{name: name, fset: fset, ast: parsed})
		return err
	})
	if err != nil || len(found) < len(rooms) {
		t.Fatalf("%d packages in %d rooms: %v", len(found), len(rooms), err)
	}
	return found
}
