package cvmsim_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"

// beneath lists which parts of the local CVM each part may import; the server may import all.
var beneath = map[string][]string{
	"wire": {}, "launch": {}, "world": {"wire", "launch"}, "api": {"wire", "world"},
	"cvm": {"wire", "launch", "world", "api"}, "tag": {"wire", "world", "api"}, "sts": {"wire", "world", "api"},
	"metadata": {"wire", "world", "api"}, "control": {"wire", "world", "api"},
}

// The parts import only the standard library, without its test packages, and lower parts. They must
// not share mistakes with the SDK or the adapter.
func TestImportsStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	checked := 0
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && entry.Name() == "cvmsimtest" {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		checked++
		folder := filepath.ToSlash(filepath.Dir(name))
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			part, own := strings.CutPrefix(path, module+"/")
			first, _, _ := strings.Cut(path, "/")
			switch {
			case own && (folder == "." || slices.Contains(beneath[folder], part)):
			case strings.Contains(first, ".") || path == "testing" || path == "net/http/httptest":
				t.Errorf("%s imports %s", name, path)
			}
		}
		return nil
	})
	if err != nil || checked < 40 {
		t.Fatalf("%d files were checked: %v", checked, err)
	}
}
