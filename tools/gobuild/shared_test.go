package main

import (
	"os"
	"testing"

	"golang.org/x/mod/modfile"
)

// newer are modules of which localkube requires a newer version than gpupool does.
var newer = map[string]string{"google.golang.org/genproto/googleapis/rpc": "etcd requires it"}

// TestModulesCompileOnce compares the modules that gpupool and localkube share. A package that
// both import compiles once if all that it imports is the same.
func TestModulesCompileOnce(t *testing.T) {
	t.Parallel()
	versions := func(name string) map[string]string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, required := range file.Require {
			all[required.Mod.Path] = required.Mod.Version
		}
		for _, replaced := range file.Replace {
			all[replaced.Old.Path] = replaced.New.Version
		}
		return all
	}
	localkube, shared := versions("../localkube/go.mod"), 0
	for path, version := range versions("../../go.mod") {
		other, both := localkube[path]
		if !both {
			continue
		}
		shared++
		if _, known := newer[path]; other != version && !known {
			t.Errorf("gpupool requires %s %s, and localkube %s: change tools/localkube/go.mod", path, version, other)
		}
	}
	if shared < 30 {
		t.Errorf("gpupool and localkube share only %d modules", shared)
	}
}
