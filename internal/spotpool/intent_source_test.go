package spotpool_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestIntentsCloseInOnePlace fails where a file other than intent.go sets a
// journal's intents: what it leaves out would be forgotten, and launched twice.
func TestIntentsCloseInOnePlace(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			name == filepath.Join("..", "spotpool", "intent.go") {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			assigned, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for k, to := range assigned.Lhs {
				field, ok := to.(*ast.SelectorExpr)
				if ok && field.Sel.Name == "Intents" && !isCopy(assigned, k) {
					t.Errorf("%s sets a journal's intents: what happens to a launch is told by the methods of intent.go", files.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isCopy reports whether what is assigned is slices.Clone of something.
func isCopy(a *ast.AssignStmt, k int) bool {
	if len(a.Rhs) != len(a.Lhs) {
		return false
	}
	call, ok := a.Rhs[k].(*ast.CallExpr)
	if !ok {
		return false
	}
	called, ok := call.Fun.(*ast.SelectorExpr)
	return ok && called.Sel.Name == "Clone"
}
