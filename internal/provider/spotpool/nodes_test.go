package spotpool_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// join registers the pool's instances as Ready nodes, as their kubelets do.
func join(t *testing.T, w *providertest.World) {
	t.Helper()
	nodes := w.Cluster.Client().CoreV1().Nodes()
	for _, i := range w.Sim.Server.Instances() {
		if i.Pool != "train" || i.State != "RUNNING" {
			continue
		}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: i.InstanceID}, Spec: corev1.NodeSpec{ProviderID: "qcloud:///200003/" + i.InstanceID}}
		n, err := nodes.Create(t.Context(), n, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nodes.Delete(context.WithoutCancel(t.Context()), n.Name, metav1.DeleteOptions{}) })
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now())}}
		if _, err := nodes.UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// The state has the cluster of a pool's nodes. They are drained before their instances terminate,
// and the plan lists the drains and the wait for them.
//
//nolint:paralleltest // the instances of other tests, in the same cluster, have the IDs of its nodes
func TestLifeOfAPoolWithNodes(t *testing.T) {
	w := providertest.NewWithCluster(t)
	uid := w.ClusterUID()
	with := func(a attributes) string {
		a["nodes"] = "{ drain = { timeout = \"5m\" } }"
		return w.Config(pool(a))
	}
	run(t,
		resource.TestStep{
			Config:           with(attributes{}),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate), plancheck.ExpectUnknownValue(address, tfjsonpath.New("cluster_uid"))),
			ConfigStateChecks: []statecheck.StateCheck{
				number("capacity", 2), statecheck.ExpectKnownValue(address, tfjsonpath.New("cluster_uid"), knownvalue.StringExact(uid)),
			},
		},
		resource.TestStep{
			PreConfig: func() { join(t, w) },
			Config:    with(attributes{"minimum": "1", "maximum": "1"}),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("cluster_uid"), knownvalue.StringExact(uid)),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions").AtSliceIndex(0),
					knownvalue.StringRegexp(regexp.MustCompile(`^drain ins-\w+, the node ins-\w+: total 2 is above maximum 1`))),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions").AtSliceIndex(1),
					knownvalue.StringExact("wait up to 15m for 1 drain (timeouts.update); gpupool reconcile continues it"))),
			Check: held(w, 1),
		},
		resource.TestStep{
			Config:           w.Config(pool(attributes{"minimum": "1", "maximum": "1"})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{ // until its mark is observed to be off the node
				statecheck.ExpectKnownValue(address, tfjsonpath.New("cluster_uid"), knownvalue.StringExact(uid)),
			},
		},
	)
}

// Nodes without a cluster are refused at plan, and nothing is recorded or launched.
func TestNodesNeedACluster(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t, resource.TestStep{
		Config:      w.Config(pool(attributes{"nodes": "{}"})),
		ExpectError: regexp.MustCompile(`No Kubernetes cluster is configured`),
	})
	for _, c := range w.Sim.Server.Calls() {
		if c.Action == "RunInstances" {
			t.Error("instances were launched")
		}
	}
}
