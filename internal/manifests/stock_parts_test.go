package manifests_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

func prepareStock(w *world) {
	w.t.Helper()
	kubetest.Create(w.t, w.cluster, kubetest.Node("stock-"+w.work, 8, kubetest.OfFleet(w.work)))
}

func stocksInRuns(w *world) error { return stocks(w, true) }

func stocksByApplies(w *world) error { return stocks(w, false) }

func stocks(w *world, runs bool) error {
	ctx, flow := w.t.Context(), w.account.StockPools()
	state, err := flow.Create(ctx, stockPool(w.work), 0)
	if err != nil {
		return err
	}
	forge(w)
	d := state.Declaration
	d.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 2}
	if state, err = flow.Update(ctx, d, 20*time.Second); err != nil {
		return err
	}
	if !state.Status.Settled() {
		return errors.New(strings.Join(state.Warnings.Texts(), "; "))
	}
	pods := w.cluster.Client().CoreV1().Pods(w.work)
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: stockpool.LabelPool + ",!forged"})
	if err == nil {
		_, err = pods.Patch(ctx, list.Items[0].Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"session":"a"}}}`), metav1.PatchOptions{})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	d = state.Declaration
	d.Replicas, d.PodDisruptionBudget = 1, nil
	if state, err = flow.Update(ctx, d, 0); err != nil {
		return err
	}
	if runs {
		report, err := w.account.Runner().Run(ctx, reconcile.RunOptions{})
		if err != nil {
			return err
		}
		for _, p := range report.StockPools {
			if p.Error != nil {
				return errors.New(p.Error.String())
			}
		}
	}
	_, err = flow.Delete(ctx, state.Declaration, 30*time.Second)
	return err
}

// forge creates a pod with the labels and the owner's name of the pool's. Only the ReplicaSets tell it from
// these, so every part has to list them.
func forge(w *world) {
	w.t.Helper()
	set := kubetest.Create(w.t, w.cluster, kubetest.ForgedReplicaSet(w.work, "pool-g1", 1, map[string]string{stockpool.LabelPool: "pool-g1"}))
	kubetest.WaitFor(w.t, "the forged pod", func(ctx context.Context) error {
		made, err := w.cluster.Client().AppsV1().ReplicaSets(w.work).Get(ctx, set.Name, metav1.GetOptions{})
		if err == nil && made.Status.Replicas != 1 {
			err = errors.New("it is not there")
		}
		return err
	})
}

// stockPool is a pool of three pods in a namespace, on the nodes of its fleet.
func stockPool(namespace string) stockpool.Declaration {
	return stockpool.Declaration{
		Name: "pool-g1", Namespace: namespace, SpecName: "g1.1", Image: "registry.example.com/runtime:1", Memory: "1Gi", GPU: 1, Replicas: 3,
		NodeSelector: onFleet(namespace), Tolerations: []stockpool.Toleration{{Operator: "Exists"}},
		PodDisruptionBudget: &stockpool.PodDisruptionBudget{MinAvailable: 1}, AllocatedSelector: "session",
	}.WithDefaults()
}

func onFleet(name string) map[string]string {
	return kubetest.Pod("", "a", kubetest.OnFleet(name)).Spec.NodeSelector
}

func TestYAMLOfStockPools(t *testing.T) {
	t.Parallel()
	o := options()
	o.Stock = manifests.Stock{Pools: true, Namespaces: []string{"team-b", "team-a", "team-b"}}
	compareYAML(t, "stock.yaml", added(t, o))
}

func TestNamespacesThatHaveNoStockPools(t *testing.T) {
	t.Parallel()
	for says, stock := range map[string]manifests.Stock{
		"needs --stock-pools":                   {Namespaces: []string{"team-a"}},
		"is not a namespace for stock pools":    {Pools: true, Namespaces: []string{"Team A"}},
		"kube-system cannot have stock pools":   {Pools: true, Namespaces: []string{metav1.NamespaceSystem}},
		"gpupool-system cannot have stock":      {Pools: true, Namespaces: []string{manifests.DefaultNamespace}},
		"gpupool-system-run cannot have stock ": {Pools: true, Namespaces: []string{manifests.RunNamespaceOf(manifests.DefaultNamespace)}},
	} {
		o := options()
		o.Stock = stock
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
	}
}

// TestStockPoolsInSomeNamespacesAlone: the accounts can keep some there, and nowhere else.
func TestStockPoolsInSomeNamespacesAlone(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	here, there := cluster.Namespace(t), cluster.Namespace(t)
	o := options()
	o.Namespace, o.Stock = cluster.Namespace(t), manifests.Stock{Pools: true, Namespaces: []string{here}}
	apply(t, cluster, objects(t, o))
	for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount} {
		c := signedInAs(t, cluster, manifests.RunNamespaceOf(o.Namespace), account)
		d := stockPool(here)
		kubetest.WaitFor(t, "the rights of "+account+" to be in force", func(ctx context.Context) error {
			made, err := c.CreateStock(ctx, d.InitialDeployment("a", 0))
			if err == nil {
				err = c.DeleteStock(ctx, made)
			}
			return err
		})
		d.Namespace = there
		_, err := c.CreateStock(t.Context(), d.InitialDeployment("a", 0))
		if err == nil || !strings.Contains(err.Error(), "needs the verb create on deployments") {
			t.Errorf("%s: in another namespace: %v", account, err)
		}
		if seen, err := c.StockOf(t.Context(), there, d.Name); err != nil || !seen.Known() {
			t.Errorf("%s: it may look: %v", account, err)
		}
	}
}
