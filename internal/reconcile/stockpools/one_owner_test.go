package stockpools_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestADeploymentThatBecameAStockPoolsIsResumedByThePool, and not by the budget that had
// paused it before.
func TestADeploymentThatBecameAStockPoolsIsResumedByThePool(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	of := pool().InitialDeployment("", 5)
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

// TestAPoolIsPausedByTheLabelsOfItsPods: some labels exist only on pods, as those that the API
// server sets at binding. The pool stays paused once the pods are gone, until usage falls.
func TestAPoolIsPausedByTheLabelsOfItsPods(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) {
		b.Enforce.Action = budget.Pause
		b.Selector = budget.Selector{MatchLabels: map[string]string{"topology.kubernetes.io/region": "ap-1"}}
	})
	d.Run()
	state := d.create()
	d.is(2, decide.Ready)
	uid := d.Cluster.Start("ml", "pool-g1-1", 8, func(p *gpu.Pod) {
		p.Owner = &ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "pool-g1", UID: state.Declaration.DeploymentUID}
		p.Labels = map[string]string{"team": "a", "topology.kubernetes.io/region": "ap-1"}
	})
	d.Cluster.Step(2 * time.Hour)
	r := d.Run()
	if d.replicas() != 0 {
		t.Fatalf("it has %d pods: %+v", d.replicas(), r.StockPools)
	}
	d.Cluster.Remove(uid)
	d.is(0, decide.Paused)
	if view, err := d.Process().StockPools().View(context.Background(), state.Declaration); err != nil || len(view.Decisions) > 0 {
		t.Errorf("a refresh plans %v: %v", view.Decisions, err)
	}
	d.Cluster.Step(25 * time.Hour)
	d.is(2, decide.Ready)
}

// TestAPauseNeedsNoApplication: a declaration that the API server refuses exempts no pool,
// and a refresh warns of it.
func TestAPauseNeedsNoApplication(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	state := d.create()
	d.is(2, decide.Ready)
	drifted := d.Cluster.Deployment(key).DeepCopy()
	drifted.Spec.Template.Spec.Containers[0].Image = "registry.example.com/other:1"
	d.Cluster.Put(key, drifted)
	refused := &kubeclient.Error{Verb: "patch", Object: "deployments ml/pool-g1", Class: kubeclient.ClassRefused, Err: errors.New("refused by the API server")}
	d.Cluster.Failing["PreviewStock"], d.Cluster.Failing["ApplyStock"] = refused, refused
	view, err := d.Process().StockPools().View(context.Background(), state.Declaration)
	if err != nil || !strings.Contains(strings.Join(view.Warnings.Texts(), "\n"), "the cluster refuses a dry run") {
		t.Errorf("a refresh warns %q: %v", view.Warnings, err)
	}
	d.uses("train", 8, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || d.replicas() != 0 || len(r.StockPools) != 1 || r.StockPools[0].Error == nil {
		t.Errorf("it has %d pods, and the run says %+v, %v", d.replicas(), r.StockPools, err)
	}
	scaled := d.Cluster.Deployment(key).DeepCopy()
	*scaled.Spec.Replicas = 3
	d.Cluster.Put(key, scaled)
	if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil || d.replicas() != 0 {
		t.Errorf("after a manual scale-up it has %d pods, %v", d.replicas(), err)
	}
}

// TestAPoolWhosePodsStayIsNotPaused: its phase is Pausing, and its pods are named.
func TestAPoolWhosePodsStayIsNotPaused(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	d.create()
	d.is(2, decide.Ready)
	stay := slices.Clone(d.Cluster.StockPods(key))
	d.uses("train", 8, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	d.Cluster.LeaveStockPods(key, stay...)
	got := d.report(d.Run())
	if got.Phase != decide.Pausing || !strings.Contains(strings.Join(got.Warnings.Texts(), "\n"), stay[0].Name) {
		t.Errorf("it is %s, and warns %q", got.Phase, got.Warnings)
	}
	d.Cluster.LeaveStockPods(key)
	d.is(0, decide.Paused)
}

// TestAnOrphanOfAPausedPoolGetsItsPodsBack: nothing else would resume it.
func TestAnOrphanOfAPausedPoolGetsItsPodsBack(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	state := d.create(func(of *stockpool.Declaration) { of.OnDestroy = stockpool.DestroyRetain })
	d.is(2, decide.Ready)
	d.uses("train", 8, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.is(0, decide.Paused)
	notices, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute)
	if err != nil || d.replicas() != 2 || !strings.Contains(strings.Join(notices.Texts(), "; "), "has its 2 replicas again") {
		t.Errorf("it has %d pods, and the notice is %q, %v", d.replicas(), notices, err)
	}
}
