//go:build vale

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var planted = map[string]string{
	"Actor":          "Ask whoever created it.",
	"Adverbs":        "It is created anew.",
	"Conditions":     "Where it is left out, instances have none.",
	"Contractions":   "A run doesn't wait.",
	"Headings":       "What it does",
	"Invalid":        "This is no name of a pool.",
	"Order":          "What the last run was refused, the history has.",
	"SentenceLength": "A run " + strings.Repeat("and another run ", 10) + "reads the store.",
	"Terms":          "The run mends its Deployment.",
}

// silent are the forms in which a rule does not apply.
var silent = map[string][]form{
	"Contractions": {guide, comment},
	"Headings":     {comment, literal, example, help, schema, output}, // they have no headings
}

// TestEachRuleIsFoundInEachForm plants each violation in each form.
func TestEachRuleIsFoundInEachForm(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	styles, err := filepath.Glob("tools/prose/styles/gpupool/*.yml")
	if err != nil || len(styles) != len(planted) {
		t.Fatalf("%d rules, and %d violations: %v", len(styles), len(planted), err)
	}
	for _, style := range styles {
		rule := strings.TrimSuffix(filepath.Base(style), ".yml")
		texts := plant(t, rule, planted[rule])
		findings, err := check(t.Context(), os.Getenv("VALE"), texts)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, f := range findings {
			found[f.path] = found[f.path] || f.rule == rule
		}
		for _, x := range texts {
			applies := true
			for _, f := range silent[rule] {
				applies = applies && f != x.form
			}
			if found[x.path] != applies {
				t.Errorf("%s in a %s: found %t, want %t", rule, x.form, found[x.path], applies)
			}
		}
	}
}

func plant(t *testing.T, rule, sentence string) []text {
	t.Helper()
	page := "# A title\n\n" + sentence + "\n"
	if rule == "Headings" {
		page = "# A title\n\n## " + sentence + "\n\nText.\n"
	}
	var texts []text
	for name, data := range map[string]string{
		"templates/guides/planted.md":              page,
		"docs/resources/planted.md":                page,
		"examples/planted.tf":                      "name = \"x\" # " + sentence + "\n",
		"internal/cli/testdata/golden/planted.txt": sentence + "\n",
		"internal/planted_test.go":                 "package internal\n\n// " + sentence + "\nvar x int\n",
		"internal/planted.go": "package internal\n\n// " + sentence + "\nvar said = \"" + sentence[:5] + "\" +\n\t\"" +
			sentence[5:] + "\"\n",
	} {
		of, err := textsOf(name, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, of...)
	}
	texts = append(texts, helps(&cobra.Command{Use: "planted", Long: sentence, Run: func(*cobra.Command, []string) {}})...)
	texts = append(texts, descriptions("schema", map[string]any{"name": map[string]any{"description": sentence}})...)
	for n := range texts {
		texts[n].path = string(texts[n].form) + "/" + texts[n].path // one for each form
	}
	return texts
}
