package budget_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// unreachable is the address of an API server that does not respond.
func unreachable(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprintf(`{ host = "https://%s", token = "x" }`, listener.Addr())
}

// A plan reports errors of the cluster, and records nothing.
func TestBadSurroundings(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	tests := map[string]struct {
		kubernetes func(t *testing.T) string
		want       string
	}{
		"unreachable cluster": {unreachable, "cannot get namespaces kube-system"},
		"no file":             {func(*testing.T) string { return `{ config_path = "/nowhere/config" }` }, "/nowhere/config does not exist"},
		"no cluster":          {func(*testing.T) string { return `null` }, "no Kubernetes cluster is configured"},
		"a damaged file": {func(t *testing.T) string {
			name := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(name, []byte("clusters: {"), 0o600); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("{ config_path = %q }", name)
		}, "reading the kubeconfig"},
		"an unknown context": {func(*testing.T) string {
			return fmt.Sprintf(`{ config_path = %q, config_context = "mars" }`, w.Cluster.Kubeconfig())
		}, `context "mars" does not exist`},
		// A deleted account's token is refused as an expired one is.
		"an expired token": {func(t *testing.T) string {
			namespace := w.Cluster.Namespace(t)
			kubeconfig := w.Cluster.ServiceAccountKubeconfig(t, namespace, "gone")
			if err := w.Cluster.Client().CoreV1().ServiceAccounts(namespace).Delete(t.Context(), "gone", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("{ config_path = %q }", kubeconfig)
		}, "Unauthorized. The credentials are missing, expired or of another cluster"},
		"a forbidden verb": {func(t *testing.T) string {
			return fmt.Sprintf("{ config_path = %q }", w.Cluster.ServiceAccountKubeconfig(t, w.Cluster.Namespace(t), "without-rights"))
		}, "The role needs the verb get on namespaces"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, resource.TestStep{
				Config: w.BudgetConfigWith(map[string]string{"kubernetes": test.kubernetes(t)}, budget()), PlanOnly: true, ExpectError: message(test.want),
			})
			nothingRecorded(t, w)
		})
	}
}

// nothingRecorded looks whether the store has no budget.
func nothingRecorded(t *testing.T, w *providertest.World) {
	t.Helper()
	if docs, err := w.Store().List(t.Context(), store.Budgets); err != nil || len(docs) > 0 {
		t.Errorf("%d records (%v)", len(docs), err)
	}
}

// Against another cluster than its own, a budget is neither read, nor changed,
// nor destroyed.
func TestWrongCluster(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	o := create(t, s, values(nil))
	if uid := o.Attribute("cluster_uid"); uid != w.ClusterUID() {
		t.Fatalf("the budget is of the cluster %v", uid)
	}
	// The same budget as another cluster has it.
	s.Destroy(o)
	o = create(t, s, values(nil))
	foreign := o.With("cluster_uid", "00000000-0000-0000-0000-000000000000")
	w.Rewrite("team-a", func(r *declaration.Budget) { r.Declaration.ClusterUID = "00000000-0000-0000-0000-000000000000" })
	_, diags := s.Read(&foreign)
	contains(t, diags, "Wrong cluster", "Nothing was changed", w.ClusterUID())
	for name, config := range map[string]providertest.Values{"update": values(providertest.Values{"gpu_hours": "5"}), "destruction": nil} {
		_, diags := s.Apply(s.Plan(&foreign, config))
		contains(t, diags, "Wrong cluster", "00000000-0000-0000-0000-000000000000", w.ClusterUID())
		if t.Failed() {
			t.Logf("by an %s", name)
		}
	}
	run(t, resource.TestStep{
		Config: w.BudgetConfig(budget()), ResourceName: address, ImportState: true, ImportStateId: "team-a", ExpectError: message("Wrong cluster"),
	})
}
