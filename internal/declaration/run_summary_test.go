package declaration_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

func none(string) bool { return false }

// Repeated failures are counted from the first, and a success ends them; skipped objects keep
// theirs.
func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	refused := &history.Error{Code: "UnauthorizedOperation", Message: "no"}
	first := declaration.Failures(nil).After(noon, []declaration.Met{
		{Object: "budget/a", Error: refused}, {Object: "budget/b", Error: refused}, {Object: "budget/c"},
	}, none)
	other := &history.Error{Message: "another"}
	second := first.After(noon.Add(time.Minute), []declaration.Met{{Object: "budget/a", Error: other}},
		func(object string) bool { return object == "budget/b" })
	want := declaration.Failures{
		"budget/a": {Since: noon, Runs: 2, LastAt: noon.Add(time.Minute), Error: *other},
		"budget/b": {Since: noon, Runs: 1, LastAt: noon, Error: *refused},
	}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if third := second.After(noon, []declaration.Met{{Object: "budget/a"}}, none); third != nil {
		t.Errorf("after a run in which nothing failed: %v", third)
	}
}

// All that fails is listed, and a summary stays small enough for a store, which compresses it.
func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	long := &history.Error{Message: strings.Repeat("€", 1000), Remedy: strings.Repeat("x", 1000)}
	met := make([]declaration.Met, 2000)
	for n := range met {
		of := *long
		of.RequestID, of.Message = rand.Text(), rand.Text()+of.Message
		met[n] = declaration.Met{Object: fmt.Sprintf("spot_pool/ap-singapore/%04d", n), Error: &of}
	}
	failures := declaration.Failures(nil).After(noon, met, none)
	failures = failures.After(noon, met, none)
	if len(failures) != len(met) || failures["spot_pool/ap-singapore/0000"].Runs != 2 || len(failures["spot_pool/ap-singapore/0000"].Error.Message) > 700 {
		t.Errorf("of %d: %+v", len(failures), failures["spot_pool/ap-singapore/0000"])
	}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write(encode(t, declaration.RunSummary{RunID: "r", Failing: failures, Skipped: failures})); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if size := compressed.Len(); size > 900<<10 {
		t.Errorf("the summary takes %d bytes", size)
	}
}

// Budget errors of earlier versions are read.
func TestOldBudgetErrors(t *testing.T) {
	t.Parallel()
	old := declaration.RunSummary{RunID: "r", StartedAt: noon, BudgetErrors: map[string]string{"a": "gone"}}
	got := old.WithFailing()
	want := declaration.Failures{"budget/a": {Since: noon, Runs: 1, LastAt: noon, Error: history.Error{Message: "gone"}}}
	if diff := cmp.Diff(want, got.Failing); diff != "" || got.BudgetErrors != nil || old.Failing != nil {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	every := func(distances ...time.Duration) declaration.RunSummary {
		var s declaration.RunSummary
		at := noon
		s.Starts = s.Begun(at)
		for _, d := range distances {
			at = at.Add(d)
			s.Starts = s.Begun(at)
		}
		return s
	}
	five := 5 * time.Minute
	regular := every(five, five, five, five)
	last := noon.Add(4 * five)
	for _, tt := range []struct {
		name    string
		summary declaration.RunSummary
		at      time.Time
		want    *declaration.Overdue
	}{
		{"in time", regular, last.Add(3*five - time.Second), nil},
		{"late", regular, last.Add(3 * five), &declaration.Overdue{Since: last.Add(five), UsualSeconds: 300}},
		{"too few", every(five, five, five), last.Add(100 * five), nil},
		{"none", declaration.RunSummary{}, last, nil},
		{"one outage among many", every(five, five, 50*five, five, five), noon.Add(54*five + 2*five), nil},
		{"quick runs", every(time.Second, time.Second, time.Second, time.Second), noon.Add(time.Minute), nil},
	} {
		if diff := cmp.Diff(tt.want, tt.summary.Overdue(tt.at)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
	if many := every(make([]time.Duration, 100)...); len(many.Starts) > 10 || many.Overdue(noon.AddDate(1, 0, 0)) != nil {
		t.Errorf("%d starts are kept", len(many.Starts))
	}
}
