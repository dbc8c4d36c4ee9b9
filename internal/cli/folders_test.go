package cli_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCommandsShareFoldersAlone fails where a command imports another one, or a
// folder that commands share imports what stands above it.
func TestCommandsShareFoldersAlone(t *testing.T) {
	t.Parallel()
	shared := map[string][]string{
		"terminal": {},
		"process":  {"terminal"},
		"describe": {"terminal"},
		"connect":  {"process", "terminal"},
		"loop":     {"process"},
	}
	command := []string{"process", "connect", "describe", "loop", "terminal"}
	files, err := filepath.Glob(filepath.Join("*", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no folders: %v", err)
	}
	for _, name := range files {
		folder := filepath.Dir(name)
		if strings.HasSuffix(name, "_test.go") || folder == "clitest" {
			continue
		}
		may, isShared := shared[folder]
		if !isShared {
			may = command
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			_, sister, found := strings.Cut(imported, "/internal/cli/")
			if found && !slices.Contains(may, sister) {
				t.Errorf("%s imports %s, which %s may not", name, sister, folder)
			}
		}
	}
}
