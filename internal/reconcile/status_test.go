package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestStatusTellsWhatTheLastRunFailedWith: an evaluation that failed leaves the status of an
// earlier one, and a status has both until a run succeeds.
func TestStatusTellsWhatTheLastRunFailedWith(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	d.Cluster.Start("ml", "a", 2)
	d.Cluster.Step(time.Hour)
	d.Run()
	look := func() budgets.Description {
		t.Helper()
		status, err := d.Runner().Status(context.Background())
		if err != nil || len(status.Budgets) != 1 || status.Budgets[0].UsageReport == nil {
			t.Fatalf("the status: %+v, %v", status.Budgets, err)
		}
		return status.Budgets[0]
	}
	d.Cluster.Failing["UID"] = errors.New("get namespaces kube-system: connection refused")
	if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	const unreachable = "the cluster cannot be reached: get namespaces kube-system: connection refused"
	if b := look(); b.Failing == nil || b.Failing.Error.Message != unreachable || b.Outcome != outcome.Done {
		t.Errorf("after a run that failed: %v, %s", b.Failing, b.Outcome)
	}
	delete(d.Cluster.Failing, "UID")
	d.Run()
	if b := look(); b.Failing != nil {
		t.Errorf("after a run that did not: %v", b.Failing)
	}
}

func TestStatusReadsTheStoreAlone(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	d.Cluster.Start("ml", "a", 2)
	d.Cluster.Step(time.Hour)
	d.Run()
	calls := d.Cluster.Calls()
	status, err := d.Runner().Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Budgets) != 1 || status.Budgets[0].ConsumedGPUHours != "2.000" || status.Budgets[0].Phase != declaration.Active {
		t.Errorf("the status: %+v", status.Budgets)
	}
	if diff := cmp.Diff(calls, d.Cluster.Calls()); diff != "" {
		t.Errorf("the cluster was asked:\n%s", diff)
	}
}
