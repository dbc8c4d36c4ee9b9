package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand calls a function with a command and all below it.
func everyCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, below := range c.Commands() {
		everyCommand(below, do)
	}
}

// TestHelpFitsInto80Columns renders the help of each command.
func TestHelpFitsInto80Columns(t *testing.T) {
	t.Parallel()
	unhelpful := regexp.MustCompile(`\b(?:stringArray|stringToString|strings|count)\b$|\(default|\d+h0m0s|\d+m0s|Default: 0`)
	everyCommand(Root(), func(c *cobra.Command) {
		help := helpText(c)
		if help == "" {
			t.Errorf("%s --help is empty", c.CommandPath())
		}
		for line := range strings.Lines(help) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > helpWidth {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), n, line)
			}
			if found := unhelpful.FindString(line); found != "" {
				t.Errorf("%s --help has %q: %s", c.CommandPath(), found, line)
			}
		}
	})
}

// TestCommandsCanBePublished checks what a generated reference needs of each command.
func TestCommandsCanBePublished(t *testing.T) {
	t.Parallel()
	everyCommand(Root(), func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || c.Example == "" {
			t.Errorf("%s needs a short description without a full stop, and an example", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, usage := pflag.UnquoteUsage(f); !strings.HasSuffix(usage, ".") {
				t.Errorf("%s --%s: %q is not a sentence", c.CommandPath(), f.Name, f.Usage)
			}
		})
	})
}

func TestHelpGroupsCommands(t *testing.T) {
	t.Parallel()
	help := helpText(Root())
	for _, want := range []string{"\nInspect:\n  explain ", "\nOperate:\n  adopt ", "\nSet up:\n  completion ", "\nOther commands:\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("gpupool --help lacks %q:\n%s", want, help)
		}
	}
}

// TestHelpFillsParagraphs has no line end in mid-sentence where the text of a command had one.
func TestHelpFillsParagraphs(t *testing.T) {
	t.Parallel()
	got := paragraphs("One sentence\nover two lines.\n\nA list:\n  - an item\n    and its rest\n- another\nthe end\n")
	want := []string{"One sentence over two lines.", "", "A list:", "  - an item", "    and its rest", "- another", "the end"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
