package budgetusage_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// A pod that ran is in the data source after the next run of gpupool reconcile,
// and stays there when it is deleted.
func TestUsageOfAPod(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	namespace := w.Cluster.Namespace(t)
	config := w.BudgetConfig(`
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = "0.001"
  window    = "24h"
  selector  = { namespaces = ["` + namespace + `"] }
}
` + usage)
	reconciled := func() {
		t.Helper()
		if _, err := w.Process().Runner().Run(t.Context(), reconcile.RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pod := kubetest.Pod(namespace, "train", kubetest.GPUs(4), kubetest.RunFor(2*time.Second))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{is("used", knownvalue.Null())}},
			{
				PreConfig: reconciled, Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					text("used", "0.000"), is("exceeded", knownvalue.Bool(false)), is("tracked_pods", knownvalue.Int64Exact(0)),
				},
			},
			{
				PreConfig: func() {
					pod = kubetest.Create(t, w.Cluster, pod)
					w.Cluster.WaitFinished(t, pod)
					reconciled()
				},
				Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					is("tracked_pods", knownvalue.Int64Exact(1)), is("exceeded", knownvalue.Bool(true)), text("remaining", "0.000"),
					is("by_namespace", knownvalue.MapSizeExact(1)), is("exceeded_since", knownvalue.NotNull()),
				},
			},
			{
				PreConfig: func() {
					if err := w.Cluster.Client().CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
						t.Fatal(err)
					}
					w.Cluster.WaitGone(t, pod)
					reconciled()
				},
				Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					is("tracked_pods", knownvalue.Int64Exact(1)), is("exceeded", knownvalue.Bool(true)), text("estimated", "0.000"),
				},
			},
		},
	})
}
