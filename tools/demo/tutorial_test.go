package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// playedGuides are the parts of guides that a reader can paste, in order: each from a
// heading to the next "## ". The first prepares the cluster for the others. The servers
// that a guide starts before its part are started by the test.
var playedGuides = []struct{ guide, from string }{
	{"budgets", "### Declaration"},
	{"getting-started", "## Create and repair a pool"},
	{"enforcement", "## Example"},
	{"spot-pools", "## Example"},
	{"nodes", "## Example"},
	{"stock-pools", "## Example"},
}

// A reader needs time between two commands. A pause of a minute must do no harm: neither
// while pods use up a budget, nor while their eviction is under way.
const (
	readingTime = time.Second
	longPause   = time.Minute
)

var pausedBefore = []string{"gpupool reconcile --wait", "kubectl -n ml get pods"}

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

// steps are the commands of a page and the files that it shows, in order. A command can
// continue after a backslash.
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
		text = strings.ReplaceAll(text, "\\\n", "")
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

// readersStage returns what a reader has before the commands of a guide: a cluster and a
// simulator that serve, and the programs on PATH.
func readersStage(t *testing.T) *stage {
	t.Helper()
	c := kubetest.StartOwn(t)
	s := rehearsal(t, &transcript{})
	bin, home := t.TempDir(), t.TempDir()
	kubectl := filepath.Join(filepath.Dir(s.localkube), "kubectl")
	links := map[string]string{
		filepath.Join(bin, "gpupool"): s.gpupoolAt, filepath.Join(bin, "terraform"): s.terraAt, filepath.Join(bin, "kubectl"): kubectl,
		filepath.Join(home, ".kube", "config"): c.Kubeconfig(),
	}
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range links {
		found, err := filepath.Abs(target)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, link); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(s.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home, "TF_CLI_ARGS=-no-color", "TZ=UTC",
		"KUBECONFIG="+c.Kubeconfig(), "KUBE_CONFIG_PATH="+c.Kubeconfig(), "GPUPOOL_STORE=kubernetes:gpupool-system")
	return s
}

// TestGuidesAsPasted plays parts of the guides at reading speed, on a local Kubernetes and
// a simulated Tencent Cloud, and compares the output with the page.
func TestGuidesAsPasted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	s := readersStage(t)
	for _, part := range playedGuides {
		text, err := os.ReadFile("../../docs/guides/" + part.guide + ".md")
		if err != nil {
			t.Fatal(err)
		}
		_, story, found := strings.Cut(string(text), "\n"+part.from+"\n")
		if !found {
			t.Fatalf("%s has no heading %q", part.guide, part.from)
		}
		story, _, _ = strings.Cut(story, "\n## ")
		s.work = filepath.Join(s.dir, part.guide)
		if err := os.Mkdir(s.work, 0o700); err != nil {
			t.Fatal(err)
		}
		s.playSteps(ctx, t, part.guide, steps(story))
		s.paste(ctx, t, step{command: "terraform destroy -auto-approve", prints: []string{"…"}})
	}
}

// playSteps writes the files of a page and runs its commands.
func (s *stage) playSteps(ctx context.Context, t *testing.T, guide string, all []step) {
	t.Helper()
	played, paused := 0, map[string]bool{}
	for _, step := range all {
		if step.file != "" {
			if err := os.WriteFile(filepath.Join(s.work, step.file), []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		played++
		time.Sleep(readingTime)
		if slices.Contains(pausedBefore, step.command) && !paused[step.command] {
			paused[step.command] = true
			time.Sleep(longPause)
		}
		s.paste(ctx, t, step)
	}
	if played < 3 {
		t.Errorf("%s: only %d commands were played", guide, played)
	}
}

// paste runs a command and compares its output with the page.
func (s *stage) paste(ctx context.Context, t *testing.T, step step) {
	t.Helper()
	// A source build has no published image.
	command := strings.Replace(step.command, "gpupool manifests --mark", "gpupool manifests --image gpupool:test --mark", 1)
	var stdout, stderr bytes.Buffer
	shell := s.command(ctx, "sh", "-c", command)
	shell.Stdout, shell.Stderr = &stdout, &stderr
	if err := shell.Run(); err != nil {
		t.Fatalf("$ %s\n%s%s%v", command, stdout.Bytes(), stderr.Bytes(), err)
	}
	t.Logf("$ %s\n%s%s", command, stdout.Bytes(), stderr.Bytes())
	line := missing(step.prints, stdout.String())
	if line != "" && missing(step.prints, stderr.String()) != "" { // kubectl reports there that it found nothing
		t.Errorf("$ %s\nprints %s%s\nand the page shows %s", command, stdout.Bytes(), stderr.Bytes(), line)
	}
}
