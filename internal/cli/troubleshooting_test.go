package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// verbs are what fmt and the expressions of admission policies fill in.
var verbs = regexp.MustCompile(`%(\[\d+\])?[-+# 0]*\d*(\.\d+)?[a-zA-Z]|' \+ [a-z.]+ \+ '`)

// texts are all texts in the code that is built into gpupool, with "…" where
// something is filled in.
func texts(t *testing.T) []string {
	t.Helper()
	var all []string
	root := clitest.RepositoryFile(t, "internal")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"cvmsim", "kubetest", "clitest", "reconciletest", "storetest"}, entry.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				all = append(all, joined(n))
			case *ast.BasicLit:
				all = append(all, joined(n))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parameter is an argument in a text of the catalog.
var parameter = regexp.MustCompile(`\{[a-z_]+\}`)

// joined is a text of one or several literals.
func joined(n ast.Expr) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return joined(n.X) + joined(n.Y)
	case *ast.BasicLit:
		if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
			return verbs.ReplaceAllString(text, "…")
		}
	}
	return "…"
}

// TestTroubleshootingHasMessagesAsPrinted looks for each message of the page in the
// code. What stands between two … is one text there.
func TestTroubleshootingHasMessagesAsPrinted(t *testing.T) {
	t.Parallel()
	printed := strings.Join(texts(t), "\n")
	for _, e := range reason.Catalog() {
		printed += "\n" + parameter.ReplaceAllString(strings.TrimSuffix(e.Text, ".")+". "+e.Remedy, "…")
	}
	looked := 0
	for _, block := range regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(clitest.Guide(t, "on-call.md"), -1) {
		for line := range strings.Lines(block[1]) {
			for part := range strings.SplitSeq(strings.TrimSpace(line), "…") {
				if part = strings.Trim(part, " .:;,()"); len(part) < 3 {
					continue
				}
				looked++
				if !strings.Contains(printed, part) {
					t.Errorf("nothing prints %q, of the message %q", part, strings.TrimSpace(line))
				}
			}
		}
	}
	if looked < 60 {
		t.Errorf("only %d parts of messages were looked for", looked)
	}
}
