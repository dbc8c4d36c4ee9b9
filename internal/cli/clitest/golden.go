// Package clitest has what tests of several commands share: golden files, reports
// with everything that can happen, and the guides that show what commands print.
package clitest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

var update = flag.Bool("update", false, "write the golden files")

// Updating reports whether golden files are written.
func Updating() bool { return *update }

// Golden is GoldenFile for the file of that name in testdata/golden.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	GoldenFile(t, filepath.Join("testdata", "golden", name), got)
}

// GoldenFile compares a text with a file. The flag -update writes the file.
func GoldenFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Plain is the style of a file, and Colored is that of a terminal.
var (
	Plain   = terminal.Style{}
	Colored = terminal.Style{Color: true, Width: 120, Height: 40}
)

// At is the time at which the reports were made.
var At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
