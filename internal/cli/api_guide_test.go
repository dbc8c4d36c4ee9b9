package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// TestAPIGuide plays the commands of the guide about the API, on a local Kubernetes.
func TestAPIGuide(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	w, namespace := newWorld(t, t.TempDir()), cluster.Namespace(t)
	kube := filepath.Join(w.dir, ".kube")
	if err := errors.Join(os.Mkdir(kube, 0o700), os.Symlink(cluster.Kubeconfig(), filepath.Join(kube, "config"))); err != nil {
		t.Fatal(err)
	}
	w.process() // creates the store
	_, url := w.server(t)
	guide := clitest.Guide(t, "api.md")
	id := ""
	for _, heading := range []string{"## Reads", "## Requests", "### Deletion"} {
		steps := consoleSteps(clitest.Section(t, guide, heading))
		if len(steps) == 0 {
			t.Errorf("%s shows no command", heading)
		}
		for _, step := range steps {
			command := strings.NewReplacer("http://127.0.0.1:9171", url, `"ml"`, `"`+namespace+`"`, "/ml/", "/"+namespace+"/").Replace(step.command)
			if id != "" {
				command = jobID.ReplaceAllString(command, id)
			}
			var output string
			eventually(t, "$ "+command+" prints what the guide shows", func() bool {
				shell := exec.Command("sh", "-c", command)
				shell.Env = append(os.Environ(), w.environment()...)
				text, err := shell.CombinedOutput()
				output = strings.ReplaceAll(string(text), "\r", "")
				return err == nil && printsAll(step.prints, output) || t.Failed()
			})
			if found := jobID.FindString(output); id == "" {
				id = found
			}
		}
	}
}

var jobID = regexp.MustCompile(`[0-9a-f]{32}`)

type consoleStep struct {
	command string
	prints  []string
}

// consoleSteps are the commands of a page, each with what it prints.
func consoleSteps(page string) (steps []consoleStep) {
	for _, block := range strings.Split(page, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(block), "\\\n", ""), "\n") {
			if command, is := strings.CutPrefix(line, "$ "); is {
				steps = append(steps, consoleStep{command: command})
				continue
			}
			last := &steps[len(steps)-1]
			last.prints = append(last.prints, line)
		}
	}
	return steps
}

// printsAll reports whether a text has the lines of a page, in order. IDs and versions differ.
func printsAll(lines []string, text string) bool {
	plain := func(s string) string {
		return regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`).ReplaceAllString(jobID.ReplaceAllString(s, "ID"), "VERSION")
	}
	rest := plain(text)
	for _, line := range lines {
		if line == "…" {
			continue
		}
		_, after, found := strings.Cut(rest, plain(line))
		if !found {
			return false
		}
		rest = after
	}
	return true
}
