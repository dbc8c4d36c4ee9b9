package workflows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// pins are the versions of tools that have a go.mod under tools/, by the input that
// sets them up in a workflow.
type pins map[string]string

// versionInput is the input of an action with the version of its tool.
var versionInput = map[string]string{
	"opentofu/setup-opentofu": "tofu_version",
}

func readPins(t *testing.T) pins {
	t.Helper()
	found := pins{}
	for _, require := range readMod(t, "../opentofu/go.mod").Require {
		if require.Mod.Path == "github.com/opentofu/opentofu" {
			found["tofu_version"] = strings.TrimPrefix(require.Mod.Version, "v")
		}
	}
	if len(found) != len(versionInput) {
		t.Fatalf("the pins of %v are not all found: %v", versionInput, found)
	}
	return found
}

func readMod(t *testing.T, path string) *modfile.File {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(path, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// TestOneGo checks that only the toolchain line of go.mod names a Go version. CI and releases
// read it, and each tool builds with it.
func TestOneGo(t *testing.T) {
	t.Parallel()
	main := readMod(t, "../../go.mod")
	if main.Toolchain == nil {
		t.Fatal("go.mod has no toolchain line: CI and releases would take the oldest Go that builds it")
	}
	toolchain := strings.TrimPrefix(main.Toolchain.Name, "go")
	tools, err := filepath.Glob("../*/go.mod")
	if err != nil || len(tools) < 5 {
		t.Fatal(tools, err)
	}
	for _, path := range tools {
		mod := readMod(t, path)
		if mod.Toolchain != nil {
			t.Errorf("%s names a toolchain of its own, %s: leave it to the main go.mod", path, mod.Toolchain.Name)
		}
		if semver.Compare("v"+mod.Go.Version, "v"+toolchain) > 0 {
			t.Errorf("%s needs Go %s, and go.mod builds with %s: raise its toolchain", path, mod.Go.Version, toolchain)
		}
	}
}
