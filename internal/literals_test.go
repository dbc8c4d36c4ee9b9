package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// currencyName finds a currency in a text or an identifier.
var currencyName = regexp.MustCompile(`\b(CNY|USD|RMB)\b|(?i:yuan|dollar)|¥`)

// TestCurrenciesAreNamedInOneTable: a price has the currency of its account, so no other code names
// one. The simulator and support of tests do.
func TestCurrenciesAreNamedInOneTable(t *testing.T) {
	t.Parallel()
	table := filepath.Join("spotpool", "currency.go")
	files, found := 0, 0
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
		if err != nil {
			return err
		}
		files++
		ast.Inspect(parsed, func(n ast.Node) bool {
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
		return nil
	}
	for _, root := range []string{".", filepath.Join("..", "tools")} {
		if err := filepath.WalkDir(root, read); err != nil {
			t.Fatal(err)
		}
	}
	if files < 500 || found < 2 {
		t.Errorf("%d files were read, and the table has %d names", files, found)
	}
}
