package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

// atTheirWord is what usage says of a list of pods without one of nodes.
const atTheirWord = "gpupool: warning: without --nodes, usage is not limited by the GPUs of nodes\n"

// answers runs a command in this process, and returns what it prints.
func answers(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(process.Process{
		Args: args, Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Terminal: func(io.Writer) (int, int, bool) { return 0, 0, false },
		Signals:  func(chan<- os.Signal) func() { return func() {} },
		Exit:     func(int) {}, Now: func() time.Time { return time.Now().UTC() }, Build: process.Build{Version: "1.2.3"},
	})
	if said := strings.ReplaceAll(stderr.String(), atTheirWord, ""); code != process.ExitDone || said != "" {
		t.Fatalf("%v ended with %d: %s", args, code, said)
	}
	return stdout.String()
}

// TestWorkedExample runs the example that a reader can check by hand, and
// compares what is printed, and the sums next to it.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	page := clitest.Guide(t, "how-usage-is-counted.md")
	command := regexp.MustCompile(`\n\$ gpupool (usage --pods .*)\n`).FindStringSubmatch(page)
	if command == nil {
		t.Fatal("the page has no example")
	}
	args := strings.Fields(strings.ReplaceAll(command[1], " examples/", " ../../examples/"))
	if diff := cmp.Diff(clitest.Printed(t, page, "gpupool "+command[1]), answers(t, args...)); diff != "" {
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
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|.* (\\S+) \\|$").FindAllStringSubmatch(clitest.Section(t, page, "## Example"), -1)
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
