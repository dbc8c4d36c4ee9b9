package workflows

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestWorkflows(t *testing.T) {
	t.Parallel()
	pins := readPins(t)
	commits := map[string]string{}
	files, err := filepath.Glob("../../.github/workflows/*")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems(string(text), pins, commits) {
			t.Errorf("%s: %s", filepath.Base(file), problem)
		}
	}
}

// sound is a workflow without a problem; each test below breaks it in one place.
const sound = `on: push
permissions:
  contents: read
jobs:
  ci:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - uses: actions/setup-go@b7ad1dad31e06c5925ef5d2fc7ad053ef454303e # v7.0.0
        with:
          go-version-file: go.mod
      - uses: opentofu/setup-opentofu@a1320f892987e89d278cc92dc5adc984fb93aca4 # v2.0.2
        with:
          tofu_version: 1.12.6
      - run: echo "$NAME"
        env:
          NAME: ${{ github.head_ref }}
`

func TestUnsoundWorkflowsAreFound(t *testing.T) {
	t.Parallel()
	pins := pins{"tofu_version": "1.12.6"}
	if found := problems(sound, pins, map[string]string{}); len(found) != 0 {
		t.Fatalf("found in a sound one: %q", found)
	}
	for name, tt := range map[string]struct{ old, replacement, want string }{
		"a tag":                        {"@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@v7", "by a commit"},
		"a short commit":               {"@3d3c42e5aac5ba805825da76410c181273ba90b1", "@3d3c42e", "by a commit"},
		"a commit without its version": {"273ba90b1 # v7.0.1", "273ba90b1", "by a commit"},
		"no permissions of a job":      {"    permissions:\n      contents: read\n", "", "job ci has no permissions"},
		"no permissions at all":        {"on: push\npermissions:\n  contents: read\n", "on: push\n", "the workflow has no permissions"},
		"rights for all jobs":          {"on: push\npermissions:\n  contents: read\n", "on: push\npermissions:\n  contents: write\n", "each job"},
		"all rights":                   {"    permissions:\n      contents: read\n", "    permissions: write-all\n", "job ci has no permissions"},
		"a release without a maintainer": {
			"    permissions:\n      contents: read\n", "    permissions:\n      contents: write\n", "job ci has contents: write and no environment",
		},
		"an image without a maintainer": {
			"    permissions:\n      contents: read\n", "    permissions:\n      packages: write\n", "job ci has packages: write and no environment",
		},
		"a token left on the disk":    {"          persist-credentials: false\n", "          fetch-depth: 0\n", "persist-credentials"},
		"a Go of its own":             {"go-version-file: go.mod", "go-version: 1.27", "go-version-file"},
		"another Go's file":           {"go-version-file: go.mod", "go-version-file: tools/opentofu/go.mod", "go-version-file"},
		"another version of a tool":   {"tofu_version: 1.12.6", "tofu_version: 1.12.5", "tools/ pins 1.12.6"},
		"whatever version of a tool":  {"tofu_version: 1.12.6", "tofu_wrapper: false", "tools/ pins 1.12.6"},
		"a shell that reads a branch": {`echo "$NAME"`, `echo "${{ github.head_ref }}"`, "env"},
		"a job without an end":        {"    timeout-minutes: 5\n", "", "timeout-minutes"},
	} {
		broken := strings.Replace(sound, tt.old, tt.replacement, 1)
		found := problems(broken, pins, map[string]string{})
		if broken == sound || len(found) != 1 || !strings.Contains(found[0], tt.want) {
			t.Errorf("%s: found %q, want one with %q", name, found, tt.want)
		}
	}
}

func TestOneCommitOfAnAction(t *testing.T) {
	t.Parallel()
	commits := map[string]string{}
	other := strings.Replace(sound, "3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0", 1)
	pins := pins{"tofu_version": "1.12.6"}
	problems(sound, pins, commits)
	if found := problems(other, pins, commits); len(found) != 1 || !strings.Contains(found[0], "actions/checkout") {
		t.Errorf("found %q", found)
	}
}

// TestEachTrialRunsOnASchedule compares the long trials of GNUmakefile with the jobs of
// trials.yml and the table of what is proven by which target.
func TestEachTrialRunsOnASchedule(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	declared := regexp.MustCompile(`(?m)^trials = (.+)$`).FindStringSubmatch(read("GNUmakefile"))
	if declared == nil {
		t.Fatal("GNUmakefile names no trials")
	}
	want := strings.Fields(declared[1])
	slices.Sort(want)

	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct {
					Target []string `json:"target"`
				} `json:"matrix"`
			} `json:"strategy"`
		} `json:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(read(".github/workflows/trials.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	var run []string
	for _, target := range workflow.Jobs["trial"].Strategy.Matrix.Target {
		name, _, _ := strings.Cut(target, " ") // without its arguments
		run = append(run, name)
	}
	slices.Sort(run)
	if diff := cmp.Diff(want, run); diff != "" {
		t.Errorf("trials of GNUmakefile (-) and of trials.yml (+):\n%s", diff)
	}

	var described []string
	for _, row := range regexp.MustCompile("(?m)^\\| `make ([a-z-]+)` \\|").FindAllStringSubmatch(read("docs/internals/proof.md"), -1) {
		described = append(described, row[1])
	}
	for _, name := range append(want, "test", "quick", "lint") {
		if !slices.Contains(described, name) {
			t.Errorf("docs/internals/proof.md has no row for make %s", name)
		}
	}
}
