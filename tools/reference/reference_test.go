package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sourceOf parses files below internal/, by path.
func sourceOf(t *testing.T, files map[string]string) *source {
	t.Helper()
	root := t.TempDir()
	for file, text := range files {
		path := filepath.Join(root, "internal", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := parse(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFieldsOfNestedAndEmbeddedTypes(t *testing.T) {
	t.Parallel()
	s := sourceOf(t, map[string]string{
		"one/one.go": `package one

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/two"
)

// Report is a report.
type Report struct {
	// Name is the name
	// of the pool.
	Name string ` + "`json:\"name\"`" + `
	two.Counts
	// Absent if nothing was shared.
	*two.Shared
	// Absent in the first run.
	*two.Usage
	Events []two.Event ` + "`json:\"events,omitempty\"`" + ` // what happened
	// Per zone.
	Zones map[string]*two.Level ` + "`json:\"zones\"`" + `
	// Absent before the first run.
	At *time.Time ` + "`json:\"at\"`" + `
	Hidden int ` + "`json:\"-\"`" + `
	hidden int
}
`,
		"two/two.go": `package two

type Counts struct {
	// Instances that work.
	Capacity int ` + "`json:\"capacity\"`" + `
}

type Shared struct{}

type Usage struct {
	// The peak.
	Peak Peak ` + "`json:\"peak\"`" + `
}

type Peak struct {
	// The hours.
	Hours int ` + "`json:\"hours\"`" + `
}

type Event struct {
	// The kind.
	Kind Level ` + "`json:\"kind\"`" + `
}

type Level string

const (
	Low  Level = "low" // little is left
	High Level = "high"
	None Level = ""
)
`,
	})
	rows, err := s.walkFields(name{"one", "Report"}, map[name]string{{"two", "Shared"}: "[shared](#shared)"})
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{"name", "string", "The name of the pool."},
		{"capacity", "integer", "Instances that work."},
		{"…", "[shared](#shared)", sameFields + " Absent if nothing was shared."},
		{"peak", "object, optional", "The peak. Absent in the first run."},
		{"peak.hours", "integer", "The hours."},
		{"events[]", "array of object, optional", "What happened."},
		{"events[].kind", "`low`, `high`", "The kind."},
		{"zones.KEY", "map of `low`, `high` or null", "Per zone."},
		{"at", "time or null", "Absent before the first run."},
	}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}

func TestFieldsWithoutCommentAreNamed(t *testing.T) {
	t.Parallel()
	s := sourceOf(t, map[string]string{"one/one.go": `package one

type Report struct {
	Name string ` + "`json:\"name\"`" + `
	Secret Own ` + "`json:\"secret\"`" + ` // a secret
}

type Own struct{}

func (o *Own) MarshalJSON() ([]byte, error) { return nil, nil }
`})
	_, err := s.walkFields(name{"one", "Report"}, nil)
	for _, want := range []string{"one.Report.Name has no comment", "one.Own writes its own JSON"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// TestPagesAreComplete writes all pages from the code of this repository.
func TestPagesAreComplete(t *testing.T) {
	t.Parallel()
	s, err := parse(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	all := pages()
	if len(all) == 0 {
		t.Fatal("there is no page")
	}
	for _, p := range all {
		first, err := p.body(s)
		if err != nil {
			t.Errorf("%s: %v", p.file, err)
		}
		if again, _ := p.body(s); again != first {
			t.Errorf("%s differs when it is written again", p.file)
		}
	}
}
