package launches_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestLaunchesCloseInOnePlace fails if a file other than launches.go sets the pending
// launches: what it leaves out would be forgotten, and launched twice.
func TestLaunchesCloseInOnePlace(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			name == filepath.Join(root, "spotpool", "launches", "launches.go") {
			return err
		}
		for _, other := range []string{filepath.Join(root, "notification"), filepath.Join(root, "reconcile", "notifications")} {
			if strings.HasPrefix(name, other+string(filepath.Separator)) { // its journals have pending events
				return nil
			}
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
				if ok && field.Sel.Name == "Launches" && assigned.Tok == token.ASSIGN && !strings.HasPrefix(name, filepath.Join(root, "spotpool", "journal")) {
					t.Errorf("%s replaces the launches of a journal: that is done by the methods of the journal", files.Position(n.Pos()))
				}
				if ok && field.Sel.Name == "Pending" && !isCopy(assigned, k) {
					t.Errorf("%s sets the pending launches: what happens to a launch is recorded by the methods of launches.go", files.Position(n.Pos()))
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
