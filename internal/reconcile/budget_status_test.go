package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// A judgement that failed leaves the status of an earlier one: a status says both,
// until a run succeeds.
func TestStatusTellsWhatTheLastRunFailedWith(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.start("ml", "a", 2)
	d.cluster.step(time.Hour)
	d.run()
	look := func() budgets.Status {
		t.Helper()
		status, err := d.engine().Status(context.Background())
		if err != nil || len(status.Budgets) != 1 || status.Budgets[0].UsageReport == nil {
			t.Fatalf("the status: %+v, %v", status.Budgets, err)
		}
		return status.Budgets[0]
	}
	d.cluster.failing["UID"] = errors.New("get namespaces kube-system: connection refused")
	if _, err := d.engine().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if b := look(); b.LastRunError != "the cluster can't be reached: get namespaces kube-system: connection refused" || b.Outcome != outcome.Done {
		t.Errorf("after a run that failed: %q, %s", b.LastRunError, b.Outcome)
	}
	delete(d.cluster.failing, "UID")
	d.run()
	if b := look(); b.LastRunError != "" {
		t.Errorf("after a run that did not: %q", b.LastRunError)
	}
}
