package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// tutorial is the guide that is played. What comes before the first heading of its
// story starts the servers that the test starts by itself.
const (
	tutorial     = "../../templates/guides/budget-tutorial.md"
	tutorialFrom = "\n## Prepare the cluster\n"
)

// step is one block of a page: a command with what it prints, or a file with its text.
type step struct {
	command string
	prints  []string
	file    string
	text    string
}

var (
	fenced  = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	fileFor = regexp.MustCompile("`([a-z.]+)`:\n\n$")
)

// steps are the commands of a page, and the files that it has one write, in order.
func steps(page string) (all []step) {
	for _, at := range fenced.FindAllStringSubmatchIndex(page, -1) {
		kind, text := page[at[2]:at[3]], page[at[4]:at[5]]
		if name := fileFor.FindStringSubmatch(page[:at[0]]); name != nil {
			all = append(all, step{file: name[1], text: text})
			continue
		}
		if kind != "console" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if command, is := strings.CutPrefix(line, "$ "); is {
				all = append(all, step{command: command})
			} else if last := &all[len(all)-1]; line != "" {
				last.prints = append(last.prints, line)
			}
		}
	}
	return all
}

// shapes are what differs from one time to the next, and what it stands for.
var shapes = []struct {
	pattern *regexp.Regexp
	is      string
}{
	{regexp.MustCompile(`\bins-\w+`), "INSTANCE"},
	{regexp.MustCompile(`\btrain-[a-z0-9]+-[a-z0-9]+`), "POD"},
	{regexp.MustCompile(`(\d{4}-\d\d-\d\d )?\d\d:\d\d(:\d\d)?`), "TIME"}, // the day is only printed of another day
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\b(\d+[dhms])+\b`), "LONG"},
	{regexp.MustCompile(`\d+(\.\d+)?`), "N"},
	{regexp.MustCompile(` ±N`), ""},
	{regexp.MustCompile(`\s+`), " "},
}

// shape is a line without what differs from one time to the next.
func shape(line string) string {
	for _, s := range shapes {
		line = s.pattern.ReplaceAllString(line, s.is)
	}
	return strings.TrimSpace(line)
}

// missing is the first of the lines of a page that was not printed there. A line of …
// stands for any others.
func missing(page []string, printed string) string {
	var lines []string
	for line := range strings.SplitSeq(printed, "\n") {
		if line = shape(line); line != "" {
			lines = append(lines, line)
		}
	}
	skipping := false
	for _, want := range page {
		if strings.TrimSpace(want) == "…" {
			skipping = true
			continue
		}
		for skipping && len(lines) > 0 && lines[0] != shape(want) {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] != shape(want) {
			return want
		}
		lines, skipping = lines[1:], false
	}
	if len(lines) > 0 && !skipping {
		return "nothing before " + lines[0]
	}
	return ""
}

// readersStage is what a reader of the tutorial has before the story begins: a cluster, a local
// CVM, and the programs on PATH.
func readersStage(t *testing.T) *stage {
	t.Helper()
	c := kubetest.StartOwn(t)
	s := rehearsal(t, &transcript{})
	if err := os.Mkdir(s.work, 0o700); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	kubectl := filepath.Join(filepath.Dir(s.localkube), "kubectl")
	for name, program := range map[string]string{"gpupool": s.gpupoolAt, "terraform": s.terraAt, "kubectl": kubectl} {
		if found, err := filepath.Abs(program); err != nil {
			t.Fatal(err)
		} else if err := os.Symlink(found, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(s.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TF_CLI_ARGS=-no-color", "TZ=UTC",
		"KUBECONFIG="+c.Kubeconfig(), "KUBE_CONFIG_PATH="+c.Kubeconfig(), "GPUPOOL_STORE=kubernetes:gpupool-system")
	return s
}

// TestBudgetTutorial runs the tutorial of budgets command by command, on a local Kubernetes and
// a local CVM, and compares the output.
func TestBudgetTutorial(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(tutorial)
	if err != nil {
		t.Fatal(err)
	}
	_, story, found := strings.Cut(string(text), tutorialFrom)
	if !found {
		t.Fatalf("the page has no heading %q", tutorialFrom)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	s, played := readersStage(t), 0
	for _, step := range steps(story) {
		if step.file != "" {
			if err := os.WriteFile(filepath.Join(s.work, step.file), []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		played++
		var printed, said bytes.Buffer
		shell := s.command(ctx, "sh", "-c", step.command)
		shell.Stdout, shell.Stderr = &printed, &said
		if err := shell.Run(); err != nil {
			t.Fatalf("$ %s\n%s%s%v", step.command, printed.Bytes(), said.Bytes(), err)
		}
		line := missing(step.prints, printed.String())
		if line != "" && missing(step.prints, said.String()) != "" { // kubectl reports there what it does not find
			t.Errorf("$ %s\nprints %s%s\nand the page shows %s", step.command, printed.Bytes(), said.Bytes(), line)
		}
	}
	if played < 20 {
		t.Errorf("only %d commands were played", played)
	}
}
