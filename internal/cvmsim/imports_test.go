package cvmsim_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The server imports the standard library alone, without what belongs to
// tests: it must not share the SDK's mistakes, nor the adapter's.
func TestImportsStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") || path == "testing" || path == "net/http/httptest" {
				t.Errorf("%s imports %s", file.Name(), path)
			}
		}
		checked++
	}
	if checked < 10 {
		t.Fatalf("only %d files were checked", checked)
	}
}
