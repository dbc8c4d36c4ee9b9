package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// currencyName finds a currency in a text or an identifier.
var currencyName = regexp.MustCompile(`\b(CNY|USD|RMB)\b|(?i:yuan|dollar)|¥`)

// goFiles parses the files of gpupool and its tools, without tests and their support.
func goFiles(t *testing.T, visit func(path string, file *ast.File)) (files int) {
	t.Helper()
	read := func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (strings.HasSuffix(name, "test") || name == "cvmsim") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			files++
			visit(path, parsed)
		}
		return err
	}
	for _, root := range []string{".", filepath.Join("..", "tools")} {
		if err := filepath.WalkDir(root, read); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestCurrenciesAreNamedInOneTable: a price has the currency of its account, so no other code names
// one. The simulator and support of tests do.
func TestCurrenciesAreNamedInOneTable(t *testing.T) {
	t.Parallel()
	table, found := filepath.Join("spotpool", "currency.go"), 0
	files := goFiles(t, func(path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			text := ""
			switch n := n.(type) {
			case *ast.BasicLit:
				text = n.Value
			case *ast.Ident:
				text = n.Name
			}
			if named := currencyName.FindString(text); named != "" && path != table {
				t.Errorf("%s names the currency %s in %s: use that of the pool or the account", path, named, text)
			} else if named != "" {
				found++
			}
			return true
		})
	})
	if files < 500 || found < 2 {
		t.Errorf("%d files were read, and the table has %d names", files, found)
	}
}

// sentence finds two words of a text.
var sentence = regexp.MustCompile(`\pL{2,}[,:]? \pL{2,}`)

// TestSentencesAreInTheCatalog: no argument of a reason is prose, and only its constructors make a reason.
func TestSentencesAreInTheCatalog(t *testing.T) {
	t.Parallel()
	ofCatalog := func(e ast.Expr) bool {
		of, is := e.(*ast.SelectorExpr)
		if !is {
			return false
		}
		name, is := of.X.(*ast.Ident)
		return is && name.Name == "reason"
	}
	made := 0
	goFiles(t, func(path string, file *ast.File) {
		if strings.HasPrefix(path, "reason"+string(filepath.Separator)) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if of, is := n.Type.(*ast.SelectorExpr); is && ofCatalog(of) && of.Sel.Name == "Reason" && len(n.Elts) > 0 {
					t.Errorf("%s makes a reason without the catalog", path)
				}
			case *ast.CallExpr:
				if !ofCatalog(n.Fun) {
					return true
				}
				made++
				refuseSentences(t, path, n.Args)
			}
			return true
		})
	})
	if made < 300 {
		t.Errorf("only %d reasons are made", made)
	}
}

// refuseSentences reports each sentence among arguments or elements.
func refuseSentences(t *testing.T, path string, list []ast.Expr) {
	t.Helper()
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING && sentence.MatchString(text.Value) {
				t.Errorf("%s writes %s: it belongs to the catalog", path, text.Value)
			}
			return true
		})
	}
}

// nameOf returns the name of a function or a type, without its package.
func nameOf(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.SelectorExpr:
		return of.Sel.Name
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// TestProblemsAndFailuresAreInTheCatalog: what is wrong with a declaration, and why a message was not delivered, is a reason.
func TestProblemsAndFailuresAreInTheCatalog(t *testing.T) {
	t.Parallel()
	rooms, made := map[string]bool{"problem": true}, map[string]int{} // rooms with a list of problems
	goFiles(t, func(path string, file *ast.File) {
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return strings.HasSuffix(i.Path.Value, `/problem"`) }) {
			rooms[filepath.Dir(path)] = true
		}
	})
	goFiles(t, func(path string, file *ast.File) {
		check := func(list []ast.Expr, of ast.Expr, names string) {
			if name := nameOf(of); slices.Contains(strings.Fields(names), name) {
				made[name]++
				refuseSentences(t, path, list)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				check(n.Elts, n.Type, "Problem Failure")
			case *ast.CallExpr:
				if rooms[filepath.Dir(path)] {
					check(n.Args, n.Fun, "Add Within Lasts Name OneOf")
				}
			}
			return true
		})
	})
	for name, least := range map[string]int{"Add": 120, "Within": 12, "Lasts": 5, "Name": 8, "OneOf": 20, "Failure": 8} {
		if made[name] < least {
			t.Errorf("only %d of %s were found", made[name], name)
		}
	}
}

// ofFramework matches the framework's functions that make or add a diagnostic of two texts, and diagnostic also the provider's.
var (
	ofFramework = regexp.MustCompile(`^(Add|New)(Attribute)?(Error|Warning)(Diagnostic)?$`)
	diagnostic  = regexp.MustCompile(`^(Add|New)?(Attribute)?(Error|Warning|Warn)(Diagnostic)?$`)
)

// TestDiagnosticsAreInTheCatalog: the provider makes diagnostics of reasons, in one place, and writes no sentence for them.
func TestDiagnosticsAreInTheCatalog(t *testing.T) {
	t.Parallel()
	made, provider := 0, "provider"+string(filepath.Separator)
	goFiles(t, func(path string, file *ast.File) {
		if !strings.HasPrefix(path, provider) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			of, is := call.Fun.(*ast.SelectorExpr)
			if !is || !diagnostic.MatchString(of.Sel.Name) {
				return true
			}
			if ofFramework.MatchString(of.Sel.Name) {
				if made++; filepath.Dir(path) != filepath.Join("provider", "problem") {
					t.Errorf("%s calls %s: use problem.Error or problem.Warning, with a reason", path, of.Sel.Name)
				}
			}
			refuseSentences(t, path, call.Args)
			return true
		})
	})
	if made == 0 {
		t.Error("no diagnostic is made")
	}
}

// TestEveryConstructorIsCalled: the catalog has no code that gpupool never says.
func TestEveryConstructorIsCalled(t *testing.T) {
	t.Parallel()
	defined, called := map[string]string{}, map[string]bool{}
	goFiles(t, func(path string, file *ast.File) {
		catalog := filepath.Dir(path) == "reason"
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if catalog && name.IsExported() && i < len(n.Values) {
						if _, calls := n.Values[i].(*ast.CallExpr); calls {
							defined[name.Name] = path
						}
					}
				}
			case *ast.SelectorExpr:
				if of, is := n.X.(*ast.Ident); is && of.Name == "reason" {
					called[n.Sel.Name] = true
				}
			case *ast.CallExpr:
				if of, is := n.Fun.(*ast.Ident); is && catalog {
					called[of.Name] = true
				}
			}
			return true
		})
	})
	for name, path := range defined {
		if !called[name] {
			t.Errorf("nothing says %s of %s: delete it", name, path)
		}
	}
	if len(defined) < 700 {
		t.Errorf("only %d constructors were found", len(defined))
	}
}
