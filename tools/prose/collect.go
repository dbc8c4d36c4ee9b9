package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
)

// A form is how a text reaches its reader; vale.ini has the rules of each.
type form string

const (
	guide     form = "guide"     // guides, README and the like
	reference form = "reference" // generated pages
	comment   form = "comment"   // comments of Go files
	literal   form = "literal"   // string literals of Go files
	example   form = "example"   // comments of Terraform files
	help      form = "help"      // --help of a command
	schema    form = "schema"    // descriptions of the provider's schema
	output    form = "output"    // golden output of a command
)

// extension is that of the format as which Vale reads the form.
func (f form) extension() string {
	switch f {
	case guide, reference, comment, literal, help, output:
		return ".md"
	default:
		return ".txt"
	}
}

type text struct {
	form  form
	path  string
	body  string
	lines []int // of the file, by line of the body; none if they are the same
}

func (t text) line(n int) int {
	if n < 1 || n > len(t.lines) {
		return n
	}
	return t.lines[n-1]
}

func collect(ctx context.Context) ([]text, error) {
	out, err := exec.CommandContext(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("listing files: %w", err)
	}
	var texts []text
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSuffix(name, "\n")
		if len(formsOf(name)) == 0 {
			continue
		}
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		of, err := textsOf(name, data)
		if err != nil {
			return nil, err
		}
		texts = append(texts, of...)
	}
	texts = append(texts, helps(cli.Root())...)
	descriptions, err := readSchema(ctx)
	return append(texts, descriptions...), err
}

func formsOf(name string) []form {
	dir, base := path.Split(name)
	switch {
	case name == "CHANGELOG.md" || name == "LICENSE.md" || dir == "docs/images/":
		return nil // history keeps its words, pictures have none
	case strings.HasPrefix(dir, "docs/guides/"), strings.HasPrefix(dir, "templates/") && !strings.HasPrefix(dir, "templates/guides/"):
		return nil // docs/guides is copied from templates/guides, the other templates end in docs
	case strings.HasPrefix(dir, "docs/") && !strings.HasPrefix(dir, "docs/internals/"):
		return []form{reference}
	case strings.HasSuffix(base, ".md"), strings.HasSuffix(base, ".md.tmpl"):
		return []form{guide}
	case strings.HasSuffix(base, "_test.go"):
		return []form{comment}
	case strings.HasSuffix(base, ".go"):
		return []form{comment, literal}
	case strings.HasSuffix(base, ".tf"):
		return []form{example}
	case strings.Contains(dir, "/testdata/golden/") && strings.HasSuffix(base, ".txt"), strings.Contains(dir, "oncall/testdata/"),
		dir == "tools/demo/stories/", strings.HasSuffix(base, ".html"):
		return []form{output}
	}
	return nil
}

func textsOf(name string, data []byte) ([]text, error) {
	if bytes.HasPrefix(data, []byte("// Code generated ")) {
		return nil, nil
	}
	var texts []text
	for _, f := range formsOf(name) {
		t, err := text{form: f, path: name, body: string(data)}, error(nil)
		switch f {
		case comment:
			t, err = comments(name, data)
		case literal:
			t, err = literals(name, data)
		case example:
			t.body = hashComments(t.body)
		case output:
			if strings.HasSuffix(name, ".html") {
				t.body = markup.ReplaceAllString(t.body, "  ")
			}
			t = split(t)
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, t)
	}
	return texts, nil
}

func hashComments(body string) string {
	var kept strings.Builder
	for line := range strings.Lines(body) {
		if _, after, found := strings.Cut(strings.TrimSuffix(line, "\n"), "# "); found {
			kept.WriteString(after)
		}
		kept.WriteString("\n")
	}
	return kept.String()
}

// markup is the tags and actions of a template.
var markup = regexp.MustCompile(`<[^>]*>|{{[^}]*}}`)

// columns divides the columns of a table, and the name of a flag from its text.
var columns = regexp.MustCompile(`  +`)

// clauses divides what a line of output, or a step of a demo, composes of several texts.
var clauses = regexp.MustCompile(`[;:] |' '`)

// split makes a paragraph of each cell of a table, and of each line that is indented, such as an
// example. Output has one sentence or one row in a line, help has paragraphs, too.
func split(t text) text {
	var b strings.Builder
	add := func(at int, line string) {
		b.WriteString(line + "\n")
		t.lines = append(t.lines, at)
	}
	at := 0
	for line := range strings.Lines(t.body) {
		at++
		if line = strings.TrimRight(line, "\n "); t.form == help && !columns.MatchString(line) {
			add(at, line)
			continue
		}
		if t.form == output {
			line = clauses.ReplaceAllString(line, "  ")
		}
		for _, cell := range columns.Split(strings.TrimSpace(line), -1) {
			add(at, "")
			add(at, strings.TrimLeft(cell, "# ")) // a heading in Markdown only
			add(at, "")
		}
	}
	t.body = b.String()
	return t
}

func helps(c *cobra.Command) []text {
	var b strings.Builder
	c.SetOut(&b)
	c.InitDefaultHelpFlag()
	_ = c.Help() // a strings.Builder does not fail
	texts := []text{split(text{form: help, path: c.CommandPath() + " --help", body: b.String()})}
	for _, below := range c.Commands() {
		texts = append(texts, helps(below)...)
	}
	return texts
}

func readSchema(ctx context.Context) ([]text, error) {
	out, err := exec.CommandContext(ctx, "go", "run", "./tools/schema").Output()
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	var of any
	if err := json.Unmarshal(out, &of); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	return descriptions("schema", of), nil
}

// descriptions are those of an object of the schema and of what it contains; at is its path.
func descriptions(at string, of any) []text {
	var texts []text
	switch x := of.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			if said, isText := x[key].(string); isText && (key == "description" || key == "summary") {
				texts = append(texts, text{form: schema, path: at, body: said + "\n"})
				continue
			}
			texts = append(texts, descriptions(at+"."+key, x[key])...)
		}
	case []any:
		for _, one := range x {
			texts = append(texts, descriptions(at, one)...)
		}
	}
	return texts
}
