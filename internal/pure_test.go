package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// impure are the packages of the standard library that reach the world, with
// what is banned about them. What is in their folders is banned as well.
var impure = map[string]string{
	"os": "IO and environment", "io/ioutil": "IO", "net": "network", "syscall": "IO", "log": "output", "embed": "IO", "database/sql": "IO",
	"math/rand": "chance", "crypto/rand": "chance", "runtime": "the machine", "sync": "other goroutines", "plugin": "IO", "expvar": "network",
}

// pureAfterAll are in folders of the former, and only compute.
var pureAfterAll = []string{"net/url", "net/netip", "net/mail", "net/textproto", "log/slog"}

// worldly are functions and variables that reach the world, of packages that else
// compute.
var worldly = map[string]struct {
	why   string
	names []string
}{
	"time": {"now and zones are parameters", []string{
		"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "LoadLocation", "Local",
	}},
	"fmt":           {"it prints or reads", []string{"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"}},
	"path/filepath": {"it reads the disk", []string{"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"}},
	"context":       {"it waits for the clock", []string{"WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause"}},
	"log/slog": {"it logs to what the process has", []string{
		"Debug", "DebugContext", "Info", "InfoContext", "Warn", "WarnContext", "Error", "ErrorContext", "Log", "LogAttrs", "Default", "SetDefault", "With",
	}},
	"text/template": {"it reads the disk", []string{"ParseFiles", "ParseGlob"}},
	"html/template": {"it reads the disk", []string{"ParseFiles", "ParseGlob"}},
	"archive/zip":   {"it reads the disk", []string{"OpenReader"}},
}

// whyImpure returns why a package of the standard library is banned; empty if it only computes.
func whyImpure(imported string) string {
	if slices.Contains(pureAfterAll, imported) {
		return ""
	}
	for name := imported; name != "."; name = path.Dir(name) {
		if why := impure[name]; why != "" {
			return why
		}
	}
	return ""
}

// reaches returns how a file of a pure room has effects. Names are the compiler's: it finds an
// import under another name, and ignores a variable with a package's name.
func reaches(fset *token.FileSet, file *ast.File) []string {
	var found []string
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if why := whyImpure(imported); why != "" {
			found = append(found, fmt.Sprintf("imports %q (%s)", imported, why))
		}
		if _, some := worldly[imported]; some && spec.Name != nil && spec.Name.Name == "." {
			found = append(found, fmt.Sprintf("imports %q into its own names", imported))
		}
	}
	uses := map[*ast.Ident]types.Object{}
	check := types.Config{Importer: emptyPackages{}, Error: func(error) {}} // what packages hold is not known, and not asked
	_, _ = check.Check("room", fset, []*ast.File{file}, &types.Info{Uses: uses})
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		if name, ok := uses[of].(*types.PkgName); ok {
			if reach := worldly[name.Imported().Path()]; slices.Contains(reach.names, selector.Sel.Name) {
				found = append(found, fmt.Sprintf("uses %s.%s (%s)", name.Imported().Path(), selector.Sel.Name, reach.why))
			}
		}
		return true
	})
	return found
}

// emptyPackages imports any package as one that holds nothing.
type emptyPackages struct{}

func (emptyPackages) Import(imported string) (*types.Package, error) {
	name := path.Base(imported)
	if version, ok := strings.CutPrefix(name, "v"); ok && version != "" && strings.Trim(version, "0123456789") == "" {
		name = path.Base(path.Dir(imported))
	}
	p := types.NewPackage(imported, name)
	p.MarkComplete()
	return p, nil
}

func TestWhatReachesTheWorldIsFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"the clock":          {`import "time"; var _ = time.Now()`, "uses time.Now"},
		"not called":         {`import "time"; var now = time.Now`, "uses time.Now"},
		"another name":       {`import clock "time"; func f() { clock.Sleep(1) }`, "uses time.Sleep"},
		"since":              {`import "time"; func f(t time.Time) time.Duration { return time.Since(t) }`, "uses time.Since"},
		"a timer":            {`import "time"; func f() { <-time.NewTimer(1).C }`, "uses time.NewTimer"},
		"a ticker":           {`import "time"; var c = time.NewTicker(1)`, "uses time.NewTicker"},
		"zones":              {`import "time"; func f(s string) { _, _ = time.LoadLocation(s) }`, "uses time.LoadLocation"},
		"the machine's zone": {`import "time"; func f(t time.Time) time.Time { return t.In(time.Local) }`, "uses time.Local"},
		"its own names":      {`import . "time"; var _ = Now()`, "into its own names"},
		"a deadline":         {`import "context"; func f(c context.Context) { context.WithTimeout(c, 1) }`, "uses context.WithTimeout"},
		"output":             {`import "fmt"; func f() { fmt.Println() }`, "uses fmt.Println"},
		"the log":            {`import "log/slog"; func f() { slog.Info("") }`, "uses log/slog.Info"},
		"a working folder":   {`import "path/filepath"; func f() { filepath.Abs("") }`, "uses path/filepath.Abs"},
		"a walk":             {`import "path/filepath"; func f() { filepath.WalkDir("", nil) }`, "uses path/filepath.WalkDir"},
		"the environment":    {`import "os"; var home = os.Getenv("HOME")`, `imports "os"`},
		"processes":          {`import "os/exec"; var _ exec.Cmd`, `imports "os/exec"`},
		"a look-up":          {`import "net"; func f() { net.LookupHost("") }`, `imports "net"`},
		"a request":          {`import "net/http"; var _ http.Client`, `imports "net/http"`},
		"chance":             {`import "math/rand"; var n = rand.Int()`, `imports "math/rand"`},
		"newer chance":       {`import "math/rand/v2"; var n = rand.Int()`, `imports "math/rand/v2"`},
		"secret chance":      {`import "crypto/rand"; var _ = rand.Reader`, `imports "crypto/rand"`},
		"only imported":      {`import _ "embed"`, `imports "embed"`},
	} {
		found := reachesOf(t, name, tt.text)
		if len(found) != 1 || !strings.Contains(found[0], tt.want) {
			t.Errorf("%s: found %q, want one that %s", name, found, tt.want)
		}
	}
	for name, text := range map[string]string{
		"a moment":             `import "time"; func f(now time.Time) time.Time { return now.Add(time.Hour) }`,
		"a method":             `import "time"; func f(now, then time.Time) bool { return now.After(then) }`,
		"zones handed in":      `import "time"; func f(zones func(string) (*time.Location, error)) { zones("UTC") }`,
		"a variable":           `type clock struct{}; func (clock) Now() int { return 0 }; func f(time clock) int { return time.Now() }`,
		"a variable over it":   `import "time"; type c struct{}; func (c) Now() int { return 0 }; var _ time.Time; func f() int { time := c{}; return time.Now() }`,
		"a text":               `import "fmt"; func f(n int) string { return fmt.Sprint(n) }`,
		"a writer handed in":   `import ("fmt"; "io"); func f(w io.Writer) { fmt.Fprintln(w) }`,
		"a path":               `import "path/filepath"; func f(a, b string) string { return filepath.Join(a, b) }`,
		"an address":           `import "net/url"; func f(s string) { url.Parse(s) }`,
		"a form of an address": `import "net/netip"; var _ netip.Addr`,
		"a value in the log":   `import "log/slog"; func f(s string) slog.Value { return slog.StringValue(s) }`,
		"another's":            `import "example.com/time"; var now = time.Now()`,
	} {
		if found := reachesOf(t, name, text); len(found) > 0 {
			t.Errorf("%s: found %q, want nothing", name, found)
		}
	}
}

func reachesOf(t *testing.T, name, text string) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name+".go", "package room; "+text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return reaches(fset, file)
}
