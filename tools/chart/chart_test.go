package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTemplatesAreGenerated compares the templates with the objects of gpupool manifests.
func TestTemplatesAreGenerated(t *testing.T) {
	t.Parallel()
	files, err := templates()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../..", directory, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is out of date: run make generate (%v)", name, err)
		}
	}
	entries, err := os.ReadDir(filepath.Join("../..", directory))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(files)+len(byHand) {
		t.Errorf("%d templates, want %d: run make generate", len(entries), len(files)+len(byHand))
	}
}
