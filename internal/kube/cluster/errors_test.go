package cluster_test

import (
	"errors"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// allow gives a service account cluster-wide rules.
func allow(t *testing.T, server *kubetest.Cluster, namespace, account string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := namespace + "-" + account
	kubetest.Create(t, server, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules})
	kubetest.Create(t, server, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: account}},
	})
}

func TestAForbiddenVerbIsNamedWithItsObject(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.ServiceAccountKubeconfig(t, ns, "unknown"))
	w := budget.Workload{Namespace: ns, Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}}
	job := budget.Workload{Namespace: ns, Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "j"}}
	pod := budget.PodRef{Namespace: ns, Name: "p", UID: "u"}
	for want, call := range map[string]func() error{
		"get on namespaces": func() error { _, err := c.UID(t.Context()); return err },
		"list on nodes":     func() error { _, err := c.LivePods(t.Context(), nil, gpu.Rules{}); return err },
		"list on events": func() error {
			_, err := c.PodEvents(t.Context(), []budget.PodRef{pod})
			return err
		},
		"create on events":                          func() error { return c.Alert(t.Context(), budget.Event{Namespace: ns, Budget: "b"}) },
		"get on validatingadmissionpolicies":        func() error { return c.Freeze(t.Context(), budget.FreezeRule{Budget: "b", BudgetUID: "u"}) },
		"list on validatingadmissionpolicybindings": func() error { _, _, err := c.Freezes(t.Context()); return err },
		"get on deployments":                        func() error { _, err := c.Workload(t.Context(), w); return err },
		"list on horizontalpodautoscalers":          func() error { _, err := c.Autoscaler(t.Context(), w); return err },
		"update on deployments/scale":               func() error { return c.Pause(t.Context(), budget.WorkloadState{Workload: w}) },
		"patch on jobs":                             func() error { return c.Resume(t.Context(), budget.WorkloadState{Workload: job}, 0) },
		"create on pods/eviction":                   func() error { return c.Evict(t.Context(), budget.Eviction{PodRef: pod}) },
	} {
		kubetest.MustFail(t, call(), kubeclient.ClassAuthorization, "cannot ", "The role needs the verb "+want)
	}
	// A role that lacks one verb of an observation.
	allow(t, server, ns, "partly", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}})
	_, err := connect(t, server.ServiceAccountKubeconfig(t, ns, "partly")).Observe(t.Context(), gpu.ObserveOptions{})
	kubetest.MustFail(t, err, kubeclient.ClassAuthorization, "cannot list pods in the whole cluster", "The role needs the verb list on pods")
}

// TestErrorsHaveAClassForReports has errors wrapped as a run wraps them.
func TestErrorsHaveAClassForReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]error{
		"no freeze policy": &kubecluster.MissingPolicyError{},
		"no freeze slot":   &kubecluster.NoFreezeSlotError{},
	} {
		var classed interface{ ErrorClass() errorclass.Class }
		if !errors.As(fmt.Errorf("a run: %w", c), &classed) || classed.ErrorClass() != errorclass.Configuration {
			t.Errorf("%s: %v has the class %v, want %s", name, c, classed, errorclass.Configuration)
		}
	}
}
