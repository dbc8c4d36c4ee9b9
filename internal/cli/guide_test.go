package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// printed returns what a page shows below a command.
func printed(t *testing.T, page, command string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n$ "+command+"\n")
	text, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("the page does not show %q", command)
	}
	return text
}

// atTheirWord is what usage says of a list of pods without one of nodes.
const atTheirWord = "gpupool: warning: without --nodes each pod is taken at its word: what its node has does not limit what it counts\n"

// answers runs a command in this process, and returns what it prints.
func answers(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(Process{
		Args: args, Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Terminal: func(io.Writer) (int, int, bool) { return 0, 0, false },
		Signals:  func(chan<- os.Signal) func() { return func() {} },
		Exit:     func(int) {}, Now: time.Now, Build: Build{Version: "1.2.3"},
	})
	if said := strings.ReplaceAll(stderr.String(), atTheirWord, ""); code != exitDone || said != "" {
		t.Fatalf("%v ended with %d: %s", args, code, said)
	}
	return stdout.String()
}

// TestWorkedExample runs the example that a reader can check by hand, and
// compares what is printed, and the sums beside it.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	page := guide(t, "how-usage-is-counted.md")
	command := regexp.MustCompile(`\n\$ gpupool (usage --pods .*)\n`).FindStringSubmatch(page)
	if command == nil {
		t.Fatal("the page has no example")
	}
	args := strings.Fields(strings.ReplaceAll(command[1], " examples/", " ../../examples/"))
	if diff := cmp.Diff(printed(t, page, "gpupool "+command[1]), answers(t, args...)); diff != "" {
		t.Errorf("what the page shows (-) and what is printed (+):\n%s", diff)
	}
	var report struct {
		Pods []struct {
			Name  string      `json:"name"`
			Hours json.Number `json:"gpu_hours"`
		}
	}
	if err := json.Unmarshal([]byte(answers(t, append(args, "-o", "json")...)), &report); err != nil {
		t.Fatal(err)
	}
	counted := map[string]json.Number{}
	for _, pod := range report.Pods {
		counted[pod.Name] = pod.Hours
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|.* (\\S+) \\|$").FindAllStringSubmatch(section(t, page, "## An example to check by hand"), -1)
	for _, row := range rows {
		hours, ok := new(big.Rat).SetString(row[2])
		if !ok {
			t.Errorf("the row of %s ends with %q", row[1], row[2])
			continue
		}
		got, _ := new(big.Rat).SetString(counted[row[1]].String())
		if got == nil {
			got = new(big.Rat)
		}
		if hours.Cmp(got) != 0 {
			t.Errorf("the page counts %s of %s, and %s are printed", row[2], row[1], got.FloatString(3))
		}
		delete(counted, row[1])
	}
	if len(rows) < 5 || len(counted) > 0 {
		t.Errorf("the page has %d rows, and none of %v", len(rows), counted)
	}
}

// guidePods are the pods of the guide about budgets: two that hold four GPUs
// each, and one that was deleted and replaced after three seconds.
func guidePods(until time.Time) iter.Seq[*ledger.Record] {
	began := ledger.Time(time.Date(2026, 11, 21, 7, 31, 52, 0, time.UTC).UnixMilli())
	held := &ledger.Holding{Shown: 1, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(4, 1), Weight: big.NewRat(1, 1)}}}
	set := &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "a"})}
	pod := func(name string, start ledger.Time) *ledger.Record {
		return &ledger.Record{
			UID: name, Name: "train-6b5469b4d8-" + name, Seen: start, Set: set, Held: held,
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

// TestBudgetExamples has the guide about budgets show what is printed.
func TestBudgetExamples(t *testing.T) {
	t.Parallel()
	page := guide(t, "budgets.md")
	declared := budget.Declaration{
		Name: "team-a", UID: "u", GPUHours: "0.065", Window: "24h",
		Selector: budget.Selector{Namespaces: []string{"ml"}, MatchLabels: map[string]string{"team": "a"}},
	}.WithDefaults()
	judged := func(now time.Time) budget.Result {
		result := budget.Evaluate([]budget.Declaration{declared}, guidePods(now), ledger.Header{Began: ledger.Time(now.UnixMilli()) - 1000}, now)[0]
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		return result
	}
	t.Run("reconcile", func(t *testing.T) {
		t.Parallel()
		now := time.Date(2026, 11, 21, 7, 32, 8, 0, time.UTC)
		result := judged(now)
		plan := budget.Decide(budget.Situation{Declaration: declared, Result: result, Now: now, RunID: "r"})
		report := reconcile.Report{Budgets: []reconcile.BudgetReport{{
			Name: declared.Name, Action: declared.Enforce.Action, Observed: true, Outcome: reconcile.Done,
			UsageReport: reconcile.NewUsageReport(result.Usage, now, nil), Fired: plan.Status.Fired,
		}}}
		for _, d := range plan.Decisions {
			report.Decisions = append(report.Decisions, reconcile.Result{Budget: &d, Outcome: reconcile.Done})
		}
		var out bytes.Buffer
		writeReport(&out, plain, report, "")
		if diff := cmp.Diff(printed(t, page, "gpupool reconcile"), out.String()); diff != "" {
			t.Errorf("what the page shows (-) and what is printed (+):\n%s", diff)
		}
	})
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		now := time.Date(2026, 11, 21, 7, 31, 55, 0, time.UTC)
		live := reconcile.LiveUsage{Declaration: declared, At: now, Usage: judged(now).Usage}
		meter, err := declared.Meter(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		for r := range guidePods(now) {
			used, _ := meter.Pod(r)
			live.Pods = append(live.Pods, reconcile.PodUsed{Record: *r, PodUsage: used})
		}
		if diff := cmp.Diff(printed(t, page, "gpupool usage team-a"), liveText(plain, newLiveReport(live), live)); diff != "" {
			t.Errorf("what the page shows (-) and what is printed (+):\n%s", diff)
		}
	})
}
