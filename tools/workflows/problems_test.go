package workflows

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

type workflow struct {
	Permissions any            `json:"permissions"`
	Jobs        map[string]job `json:"jobs"`
}

type job struct {
	Uses        string `json:"uses"`
	Permissions any    `json:"permissions"`
	Environment any    `json:"environment"`
	Timeout     int    `json:"timeout-minutes"`
	Steps       []step `json:"steps"`
}

type step struct {
	Uses string         `json:"uses"`
	Run  string         `json:"run"`
	With map[string]any `json:"with"`
}

var (
	uses   = regexp.MustCompile(`(?m)uses: *(\S+)(.*)$`)
	pinned = regexp.MustCompile(`^([\w.-]+/[\w./-]+)@([0-9a-f]{40})$`)
	tagged = regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
)

// problems are those of a workflow. commits are the ones of the actions seen so
// far: an action has one.
func problems(text string, pins pins, commits map[string]string) (found []string) {
	problem := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, match := range uses.FindAllStringSubmatch(text, -1) {
		action, comment := match[1], match[2]
		if strings.HasPrefix(action, "./") {
			continue
		}
		parts := pinned.FindStringSubmatch(action)
		if parts == nil || !tagged.MatchString(comment) {
			problem("%s%s: name the action by a commit, with its version behind it (# v1.2.3)", action, comment)
			continue
		}
		if before := commits[parts[1]]; before != "" && before != parts[2]+comment {
			problem("%s is %s%s here, and %s elsewhere", parts[1], parts[2], comment, before)
		}
		commits[parts[1]] = parts[2] + comment
	}
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return append(found, err.Error())
	}
	if rights, ok := w.Permissions.(map[string]any); !ok {
		problem("the workflow has no permissions: give it contents: read")
	} else if len(rights) != 1 || rights["contents"] != "read" {
		problem("the workflow has more than contents: read: give each job what it needs")
	}
	for name, job := range w.Jobs {
		rights, ok := job.Permissions.(map[string]any)
		if !ok {
			problem("job %s has no permissions of its own, by name", name)
		}
		for _, right := range []string{"contents", "packages"} {
			if rights[right] == "write" && job.Environment == nil {
				problem("job %s has %s: write and no environment, where a person would approve it", name, right)
			}
		}
		if job.Uses == "" && job.Timeout == 0 {
			problem("job %s has no timeout-minutes", name)
		}
		for _, step := range job.Steps {
			found = append(found, stepProblems(step, pins)...)
		}
	}
	slices.Sort(found)
	return found
}

func stepProblems(s step, pins pins) (found []string) {
	problem := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	action, _, _ := strings.Cut(s.Uses, "@")
	switch action {
	case "actions/checkout":
		if s.With["persist-credentials"] != false {
			problem("a checkout without persist-credentials: false leaves a token on the disk")
		}
	case "actions/setup-go":
		if s.With["go-version-file"] != "go.mod" || s.With["go-version"] != nil {
			problem("a setup-go without go-version-file: go.mod, the one place that names the Go of all builds")
		}
	default:
		input := versionInput[action]
		if version := fmt.Sprint(s.With[input]); input != "" && version != pins[input] {
			problem("%s has the %s %s, and tools/ pins %s", action, input, version, pins[input])
		}
	}
	if strings.Contains(s.Run, "${{") {
		problem("%q is put together before the shell reads it: hand it over in env", s.Run)
	}
	return found
}
