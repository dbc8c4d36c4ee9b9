package budgets_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

func TestWrongClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Evict))
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	d.Cluster.ClusterUID = "99999999-2222-3333-4444-555555555555"
	before := d.Documents()
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if failed, rest := report.Failures(); failed != 1 || rest != 0 || !strings.Contains(report.Budgets[0].Error.Message, b.ClusterUID) {
		t.Errorf("the report: %+v", report.Budgets)
	}
	_, updateErr := d.Budgets().Update(context.Background(), b)
	_, deleteErr := d.Budgets().Delete(context.Background(), b)
	for _, err := range []error{updateErr, deleteErr} {
		var wrong *record.ClusterError
		if !errors.As(err, &wrong) {
			t.Errorf("got %v, want a ClusterError", err)
		}
	}
	after := d.Documents()
	delete(after, "statuses/last_run")
	if diff := cmp.Diff(before, after); diff != "" || len(d.Cluster.Acts) > 0 {
		t.Errorf("something was touched: %v\n%s", d.Cluster.Acts, diff)
	}
}

func TestUnreachableClusterFailsBudgets(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	d.Cluster.Failing["UID"] = errors.New("get namespaces kube-system: connection refused")
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || len(report.Budgets) != 1 || report.Budgets[0].Outcome != outcome.Failed {
		t.Fatalf("got %v, %+v", err, report.Budgets)
	}
	none := d.Process()
	none.Cluster = nil
	report, err = none.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Failed {
		t.Errorf("without a cluster: %v, %+v", err, report.Budgets)
	}
}

func TestNoBudgetsAskNoCluster(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	report := d.Run()
	if len(d.Cluster.Calls()) > 0 || len(report.Calls) > 0 {
		t.Errorf("calls: %v", d.Cluster.Calls())
	}
}
