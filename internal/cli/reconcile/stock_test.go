package reconcile

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/metrics"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestAStockPoolReads: what was reverted, by whom, and how it is now; and as gauges.
func TestAStockPoolReads(t *testing.T) {
	t.Parallel()
	reverted := stockpool.Decision{
		Kind: stockpool.KindRevert, Object: "stock_pool/ml/pool-g1", Replicas: 2, Was: 9,
		Reasons: reason.Reasons{
			reason.FieldDrifted("spec.replicas", "9", "2"), reason.LastWrittenBy(reason.Names{"kubectl (scale) at 2026-01-02T03:04:05Z"}),
		},
	}
	report := reconcile.Report{
		Decisions: []outcome.Result{outcome.Of(reverted, outcome.Done, nil)},
		StockPools: []stockpools.Report{
			{
				Name: "pool-g1", Namespace: "ml", UID: "u", Outcome: outcome.Done,
				Status: &decide.Status{Phase: decide.Ready, Desired: 2, Replicas: 2, Available: 1, Allocated: 1},
			},
			{Name: "unseen", Namespace: "ml", UID: "v", Outcome: outcome.Failed, Error: &outcome.ErrorReport{Message: "no answer"}},
		},
	}
	var out bytes.Buffer
	writeReport(&out, terminal.Style{}, terminal.Clock{}, report, "directory:.gpupool")
	for _, want := range []string{"stock_pool/ml/pool-g1", "reverted drift of its Deployment", "spec.replicas was 9 instead of 2", "STOCK POOL",
		"failed: no answer"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, out.String())
		}
	}
	if text := out.String(); !strings.Contains(text, "Changed\n") || strings.Contains(text, "done") {
		t.Errorf("the run reads as the pool:\n%s", text)
	}
	families, err := metrics.OfRun(report, true, time.Unix(0, 0), 0).Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "gpupool_stock_pool_") {
			continue
		}
		for _, m := range f.GetMetric() {
			of := map[string]string{}
			for _, l := range m.GetLabel() {
				of[l.GetName()] = l.GetValue()
			}
			if of["namespace"] != "ml" || of["name"] != "pool-g1" {
				t.Errorf("%s is reported as %v, which was not observed", f.GetName(), of)
			}
			got[f.GetName()] = m.GetGauge().GetValue()
		}
	}
	if got["gpupool_stock_pool_available"] != 1 || got["gpupool_stock_pool_desired"] != 2 || len(got) != 5 {
		t.Errorf("the gauges are %v", got)
	}
}

// TestMetricsHaveTheStatesOfTables: an alert on a state needs the word that tables print.
func TestMetricsHaveTheStatesOfTables(t *testing.T) {
	t.Parallel()
	families, err := metrics.OfRun(reconcile.Report{StockPools: []stockpools.Report{{
		Name: "g1", Namespace: "ml", Outcome: outcome.Done, Status: &decide.Status{Phase: decide.Degraded},
	}}}, true, time.Unix(0, 0), 0).Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if f.GetName() != "gpupool_object_state" {
			continue
		}
		for _, label := range f.GetMetric()[0].GetLabel() {
			got = append(got, label.GetValue())
		}
	}
	if want := []string{"stock_pool", "ml/g1", "Degraded"}; !slices.Equal(got, want) {
		t.Errorf("the state is %v, want %v", got, want)
	}
}

// TestOnlyReadyStockPoolsAreInSync, and left out of a long table: others have pods missing.
func TestOnlyReadyStockPoolsAreInSync(t *testing.T) {
	t.Parallel()
	for phase, want := range map[decide.Phase]state.State{
		decide.Ready: state.InSync, decide.Progressing: state.Progressing, decide.Degraded: state.Degraded, decide.Paused: state.Paused,
	} {
		if got := (stockpools.Report{Outcome: outcome.Done, Status: &decide.Status{Phase: phase}}).StateAfter(false); got != want {
			t.Errorf("%s reads %q, want %q", phase, got, want)
		}
	}
}

// TestRunsAndStatusNameTheSameState of a stock pool whose pods are not ready.
func TestRunsAndStatusNameTheSameState(t *testing.T) {
	t.Parallel()
	atMaximum := decide.Condition{Type: decide.Stocked, Status: "False", Reason: decide.AtMaximum}
	blocked := decide.Condition{Type: decide.WithinBudget, Status: "False"}
	for want, s := range map[state.State]decide.Status{
		state.Degraded: {Phase: decide.Degraded, Desired: 2, Available: 1},
		state.Pending:  {Phase: decide.Pending, Desired: 2},
		state.Blocked:  {Phase: decide.Degraded, Desired: 1, Available: 1, Conditions: []decide.Condition{blocked}},
		state.Short:    {Phase: decide.Degraded, Desired: 2, Available: 1, Conditions: []decide.Condition{atMaximum}},
	} {
		run := stockpools.Report{Outcome: outcome.Short, Status: &s}
		status := stockpools.Description{Report: stockpools.Report{Outcome: outcome.Done, Status: &s}}
		status.SetState()
		if got := run.StateAfter(true); got != want || status.State != want {
			t.Errorf("a run names %s and status %s, want %s", got, status.State, want)
		}
	}
}
