package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var exampleRow = regexp.MustCompile("(?m)^\\| \\[`([a-z-]+)`\\]\\(([a-z-]+)\\) \\| [^|]+ \\| [^|]+ \\|$")

// TestExamplesAreListed compares the index of examples/ with its folders, in order.
func TestExamplesAreListed(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	var folders, listed []string
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	for _, row := range exampleRow.FindAllSubmatch(index, -1) {
		if listed = append(listed, string(row[1])); string(row[1]) != string(row[2]) {
			t.Errorf("the row of %s links to %s", row[1], row[2])
		}
	}
	slices.Sort(folders)
	if diff := cmp.Diff(folders, listed); diff != "" {
		t.Errorf("folders (-) and rows of examples/README.md (+):\n%s", diff)
	}
}
