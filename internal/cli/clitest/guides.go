package clitest

import (
	"iter"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// RepositoryFile is the path of a file of the repository, as seen from the package
// under test.
func RepositoryFile(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, filepath.FromSlash(name))
		}
	}
	t.Fatalf("there is no go.mod above the test, and so no %s", name)
	return ""
}

// Guide returns the text of a guide, as it is written in templates/guides.
func Guide(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(RepositoryFile(t, "templates/guides/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Section is the text under a heading, up to the next heading of its level or above.
func Section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no heading %q", heading)
	}
	level := strings.Index(heading, " ")
	next := regexp.MustCompile(`(?m)^#{1,` + string(rune('0'+level)) + `} `)
	if at := next.FindStringIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	return rest
}

// Printed returns the output that a page shows below a command.
func Printed(t *testing.T, page, command string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n$ "+command+"\n")
	text, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("the page does not show %q", command)
	}
	return text
}

// GuidePods are the pods of the guide about budgets: two that hold four GPUs
// each, and one that was deleted and replaced after three seconds.
func GuidePods(until time.Time) iter.Seq[*ledger.Record] {
	began := ledger.Time(time.Date(2026, 11, 21, 7, 31, 52, 0, time.UTC).UnixMilli())
	held := &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(4, 1), Weight: big.NewRat(1, 1)}}}
	set := &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "a"})}
	pod := func(name string, start ledger.Time) *ledger.Record {
		return &ledger.Record{
			UID: name, Name: "train-6b5469b4d8-" + name, Seen: start, Set: set, Allocation: held,
			Start: ledger.Start{At: start, Source: ledger.PodScheduled},
		}
	}
	deleted := pod("b7mgf", began)
	deleted.End = ledger.ExactEnd(began+3000, ledger.ContainerFinished)
	all := []*ledger.Record{deleted, pod("nqlbj", began+2000), pod("ts7ht", began)}
	return func(yield func(*ledger.Record) bool) {
		for _, r := range all {
			if r.Start.At <= ledger.Time(until.UnixMilli()) && !yield(r) {
				return
			}
		}
	}
}

// GuideBudget is the budget of the guide about budgets.
func GuideBudget() budget.Declaration {
	return budget.Declaration{
		Name: "team-a", UID: "u", GPUHours: "0.065", Window: "24h",
		Selector: budget.Selector{Namespaces: []string{"ml"}, MatchLabels: map[string]string{"team": "a"}},
	}.WithDefaults()
}

// Judged is the result of the guide's budget with its pods.
func Judged(t *testing.T, now time.Time) meter.Result {
	t.Helper()
	result := meter.Evaluate([]budget.Declaration{GuideBudget()}, GuidePods(now), ledger.Header{Began: ledger.Time(now.UnixMilli()) - 1000}, now,
		time.LoadLocation)[0]
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return result
}
