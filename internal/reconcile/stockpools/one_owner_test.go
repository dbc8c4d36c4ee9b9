package stockpools_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestADeploymentThatBecameAStockPoolsIsResumedByThePool, and not by the budget that had
// paused it before.
func TestADeploymentThatBecameAStockPoolsIsResumedByThePool(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.budget(budget.Pause)
	d.Run()
	of := pool().BareOf("", 5)
	of.UID, of.Annotations = "uid-of-pool-g1", nil
	d.Cluster.Put(key, of)
	w := d.Cluster.WorkloadOf(budget.Workload{
		Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "pool-g1", UID: "uid-of-pool-g1"},
	})
	w.Replicas = 5
	d.uses("pool-g1", 4, "uid-of-pool-g1")
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	if !slices.Contains(d.Cluster.Acts, "Pause pool-g1") {
		t.Fatalf("the budget did %q", d.Cluster.Acts)
	}
	paused := d.Cluster.Deployment(key).DeepCopy()
	*paused.Spec.Replicas = 0
	d.Cluster.Put(key, paused)
	imported := d.imported().Declaration
	imported.Replicas = 2
	if _, err := d.Process().StockPools().Update(context.Background(), imported, 0); err != nil {
		t.Fatal(err)
	}
	d.is(0, decide.Paused)
	d.Cluster.Step(25 * time.Hour)
	d.is(2, decide.Ready)
	if slices.Contains(d.Cluster.Acts, "Resume pool-g1") {
		t.Error("the budget resumed what is a stock pool's")
	}
	if docs, err := d.Store().List(context.Background(), store.Pauses); err != nil || len(docs) > 0 {
		t.Errorf("the budget still holds something: %v, %v", docs, err)
	}
}
