package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSurvey counts a small package, whose comments and blank lines are no code.
func TestSurvey(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"p/a.go": `// Package p is an example.
package p

type T[E any] struct {
	a, b int // two fields
}

/* A comment
of two lines. */
func (t *T[E]) M() string {
	return "x" +
		` + "`y\nz`" + `
}

func (T[E]) N() {}

type I interface {
	M() string
	private()
}

const A, b = 1, 2
`,
		"p/a_test.go": "package p\n\nvar x = 1\n",
		"c.yaml":      "a: 1\n\nb: 2\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := survey(root)
	if err != nil {
		t.Fatal(err)
	}
	if h.code != 15 || h.tests != 2 || h.others[".yaml"] != 2 || h.long != 0 {
		t.Errorf("%d lines of code, %d of tests, %d of YAML, %d long ones", h.code, h.tests, h.others[".yaml"], h.long)
	}
	p := h.sorted()[0]
	if p.exported != 3 || p.methods["T"] != 2 || p.interfaces["I"] != 2 {
		t.Errorf("%d exported names, methods %v, interfaces %v", p.exported, p.methods, p.interfaces)
	}
}
