// Package recordtest compares the plans of drawn situations with those on record, testdata/plans.txt. So a
// changed rule shows in which situations it decides otherwise. No code outside of tests may import it.
package recordtest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the plans on record")

// Life is a sequence of plans.
type Life struct{ lines, before []string }

// Add adds the lines of a plan, without those that the plan before it had.
func (l *Life) Add(title string, lines []string) {
	fresh := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(l.before, line) })
	if l.before = lines; len(fresh) == 0 {
		return
	}
	l.lines = append(l.lines, title)
	for _, line := range fresh {
		l.lines = append(l.lines, "  "+line)
	}
}

// Compare compares lives with those on record. It draws one for each of so many seeds, and leaves out those
// with fewer lines than least.
func Compare(t *testing.T, seeds, least int, play func(*rapid.T, *Life)) {
	t.Helper()
	var list []string
	for seed := range seeds {
		var of Life
		rapid.Custom(func(t *rapid.T) int {
			of = Life{}
			play(t, &of)
			return 0
		}).Example(seed)
		if len(of.lines) >= least {
			list = append(append(list, fmt.Sprint("life ", seed)), of.lines...)
		}
	}
	got := strings.Join(list, "\n") + "\n"
	const file = "testdata/plans.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("plans (-on record +of now); go test with -update writes those of now:\n%s", diff)
	}
}
