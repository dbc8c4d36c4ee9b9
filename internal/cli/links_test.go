package cli

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]+)"`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are what links to a page may name behind #, as GitHub and the registry make
// them of headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, a := range anchor.FindAllStringSubmatch(text, -1) {
		all[a[1]] = true
	}
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		plain := dropped.ReplaceAllString(strings.ToLower(linked.ReplaceAllString(h[1], "$1")), "")
		all[strings.ReplaceAll(strings.TrimSpace(plain), " ", "-")] = true
	}
	return all
}

// ownAddress is the address of a file in this repository, which pages of the registry link
// to if the registry does not have it.
var ownAddress = regexp.MustCompile(`^https://(?:github\.com/gpupool/terraform-provider-gpupool/(?:blob|tree)|` +
	`raw\.githubusercontent\.com/gpupool/terraform-provider-gpupool)/main/`)

// TestLinksLeadSomewhere follows each link between the pages.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	shown := shownPages(t)
	texts := map[string]string{}
	for _, p := range shown {
		texts[p.name] = p.text
	}
	followed := 0
	for _, p := range shown {
		for _, l := range link.FindAllStringSubmatch(fence.ReplaceAllString(p.text, ""), -1) {
			address := ownAddress.FindString(l[1])
			if address == "" && strings.Contains(l[1], "://") {
				continue
			}
			followed++
			file, at, within := strings.Cut(strings.TrimPrefix(l[1], address), "#")
			target := p.name
			if address != "" {
				target = file
			} else if file != "" {
				target = path.Join(path.Dir(p.name), file)
			}
			text, known := texts[target]
			if _, err := os.Stat(clitest.RepositoryFile(t, target)); err != nil {
				t.Errorf("%s links to %s, and there is no %s", p.name, l[1], target)
			} else if within && (!known || !anchors(text)[at]) {
				t.Errorf("%s links to %s, and %s has no heading that is called so", p.name, l[1], target)
			}
		}
	}
	if followed < 100 {
		t.Errorf("only %d links were followed", followed)
	}
}

var (
	shownCommand  = regexp.MustCompile(`(?:^|^[$#] |[|;&'(] ?|/bin/|\.bin/)gpupool ([a-z-][^|;)>&'\n]*)`)
	inlineCommand = regexp.MustCompile("`gpupool ([^`|]+)`")
)

// commandLines are the arguments of gpupool that a page shows in its examples and its
// text.
func commandLines(text string) (lines []string) {
	for _, block := range fence.FindAllString(text, -1) {
		kind, rest, _ := strings.Cut(strings.TrimLeft(block, " `"), "\n")
		for line := range strings.Lines(strings.ReplaceAll(rest, "\\\n", " ")) {
			line = strings.TrimSpace(line)
			prompt := strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "# ") && kind == "console"
			if !prompt && kind != "sh" && kind != "bash" && kind != "shell" {
				continue
			}
			line, _, _ = strings.Cut(line, " # ")
			for _, c := range shownCommand.FindAllStringSubmatch(line, -1) {
				lines = append(lines, c[1])
			}
		}
	}
	for _, c := range inlineCommand.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		lines = append(lines, c[1])
	}
	return lines
}

// unknownFlag is the first flag of arguments that a command does not have.
func unknownFlag(c *cobra.Command, args []string) string {
	c.InitDefaultHelpFlag()
	c.InheritedFlags() // which adds them
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return ""
		case strings.HasPrefix(name, "--") && c.Flags().Lookup(name[2:]) == nil:
			return arg
		case len(name) == 2 && name[0] == '-' && name[1] != '-' && c.Flags().ShorthandLookup(name[1:]) == nil:
			return arg
		}
	}
	return ""
}

// TestPagesNameCommandsThatAreThere looks each command and flag up that the pages show.
func TestPagesNameCommandsThatAreThere(t *testing.T) {
	t.Parallel()
	root := newRoot(&process.Session{})
	looked := 0
	for _, p := range shownPages(t) {
		for _, line := range commandLines(p.text) {
			looked++
			args := strings.Fields(line)
			c, rest, err := root.Find(args)
			if err != nil || c == root && !strings.HasPrefix(args[0], "-") {
				t.Errorf("%s has gpupool %s: there is no such command", p.name, line)
				continue
			}
			if flag := unknownFlag(c, rest); flag != "" {
				t.Errorf("%s has gpupool %s: there is no %s", p.name, line, flag)
			}
		}
	}
	if looked < 100 {
		t.Errorf("only %d commands were looked up", looked)
	}
}
