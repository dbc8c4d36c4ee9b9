// Command chart writes the templates of charts/gpupool from the objects of gpupool manifests. For
// each object it finds the options on which the object depends, and writes a template with these
// conditions. The other files of the chart are written by hand, except its README.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const directory = "charts/gpupool/templates"

// byHand are the templates that no object becomes.
var byHand = []string{"_helpers.tpl", "NOTES.txt", "certificate.yaml", "validate.yaml"}

func main() {
	if err := write(directory); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// write replaces the generated templates.
func write(directory string) error {
	files, err := templates()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, kept := files[entry.Name()]; !kept && !slices.Contains(byHand, entry.Name()) {
			if err := os.Remove(filepath.Join(directory, entry.Name())); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o644); err != nil { //nolint:gosec // a file of the repository
			return err
		}
	}
	return nil
}

// templates returns the text of each file. Objects of a kind share one.
func templates() (map[string]string, error) {
	p := newPlan()
	if p.err != nil {
		return nil, p.err
	}
	files := map[string]string{}
	for _, key := range p.keys {
		kind, _, _ := strings.Cut(key, "/")
		name := strings.ToLower(kind) + ".yaml"
		if files[name] == "" {
			files[name] = "{{- /* Written by make generate from internal/manifests. */ -}}\n"
		}
		files[name] += p.template(key)
	}
	return files, p.err
}
