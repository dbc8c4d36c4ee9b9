package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLastScreen compares what the reader of stories learns at the end.
func TestLastScreen(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "demo.html")
	if err := os.WriteFile(report, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, story := range stories {
		if _, err := os.Stat("stories/" + story.name + ".txt"); err != nil {
			t.Error(err)
		}
		all = append(all, story.name)
	}
	for _, tt := range []struct {
		played []string
		report string
		shows  []string
		opens  bool
	}{
		{all, report, []string{stories[0].shows, stories[1].shows, stories[2].shows}, true},
		{[]string{"pool"}, "missing", []string{stories[0].shows}, false},
		{[]string{"recording"}, "missing", nil, false},
	} {
		lines := strings.Split(strings.TrimSuffix(lastScreen(tt.played, 214*time.Second, tt.report), "\n"), "\n")
		if len(lines) != 3+len(tt.shows) || lines[0] != "" || !strings.HasPrefix(lines[1], "Done in 214 s. ") {
			t.Errorf("%v: the last screen is %q", tt.played, lines)
		}
		for i, shown := range tt.shows {
			if lines[2+i] != "- "+shown {
				t.Errorf("%v: line %d is %q", tt.played, 2+i, lines[2+i])
			}
		}
		next := lines[len(lines)-1]
		if strings.Contains(next, "open ") != tt.opens || !strings.Contains(next, "docs/guides/first-pool.md") {
			t.Errorf("%v: the last line is %q", tt.played, next)
		}
		if slices.ContainsFunc(lines[:len(lines)-1], func(line string) bool { return len(line) > columns }) {
			t.Errorf("%v: a line of the last screen does not fit a terminal: %q", tt.played, lines)
		}
	}
	if _, err := os.Stat("../../docs/guides/first-pool.md"); err != nil {
		t.Error(err)
	}
}

func TestPathsAreRelative(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("bin/demo.html")
	if err != nil {
		t.Fatal(err)
	}
	if got := relative(here); got != filepath.Join("bin", "demo.html") {
		t.Errorf("the report is shown as %s", got)
	}
}
