package budget_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// The store in a namespace of the cluster does what one in a directory does, and
// needs no account either.
func TestStoreInTheCluster(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	namespace := w.Cluster.Namespace(t)
	config := func(rest string) string {
		return w.BudgetConfigWith(map[string]string{"store": fmt.Sprintf("{ kubernetes_namespace = %q }", namespace)}, rest)
	}
	run(t,
		resource.TestStep{Config: config(budget()), ConfigStateChecks: []statecheck.StateCheck{generation(1), text("cluster_uid", w.ClusterUID())}},
		resource.TestStep{Config: config(budget(attributes{"window": `"1d"`})), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
		resource.TestStep{
			Config:            config(budget(attributes{"gpu_hours": `"50"`})),
			ConfigStateChecks: []statecheck.StateCheck{generation(2), text("gpu_hours", "50")},
		},
		resource.TestStep{
			Config:       config(budget(attributes{"gpu_hours": `"50"`})),
			ResourceName: address, ImportState: true, ImportStateId: "team-a", ImportStateVerify: true, ImportStateVerifyIdentifierAttribute: "name",
		},
		resource.TestStep{
			Config: config(budget(attributes{"gpu_hours": `"50"`}) + "data \"gpupool_budget_usage\" \"team_a\" {\n  budget = gpupool_budget.team_a.name\n}\n" +
				"output \"limit\" {\n  value = data.gpupool_budget_usage.team_a.limit\n}\n"),
			Check: resource.TestCheckOutput("limit", "50.000"),
		},
		resource.TestStep{
			Config: w.BudgetConfigWith(map[string]string{
				"store":      fmt.Sprintf("{ kubernetes_namespace = %q }", namespace),
				"kubernetes": fmt.Sprintf("{ config_path = %q }", w.Cluster.ServiceAccountKubeconfig(t, namespace, "without-rights")),
			}, budget()),
			ExpectError: message("The role needs the verb"),
		},
		resource.TestStep{Config: config(budget(attributes{"gpu_hours": `"50"`}))},
	)
	left, err := w.Cluster.Client().CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tombstones, err := w.Cluster.Client().CoreV1().ConfigMaps(namespace).List(t.Context(),
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=gpupool"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range left.Items {
		t.Errorf("the secret %s is left behind", s.Name)
	}
	if len(tombstones.Items) == 0 {
		t.Error("the destruction left no tombstone")
	}
}
