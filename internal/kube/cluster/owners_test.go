package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// ownerOf asks whose a pod is that has labels and names an owner.
func ownerOf(t *testing.T, c *kubecluster.Cluster, labels map[string]string, owner budget.Workload) budget.Ownership {
	t.Helper()
	p := budget.Pod{
		Pod: gpu.Pod{UID: "pod", Namespace: owner.Namespace, Name: "pod", Owner: &owner.Owner},
		Set: &ledger.LabelSet{Namespace: owner.Namespace, Labels: ledger.LabelsOf(labels)},
	}
	owners, err := c.Owners(t.Context(), []budget.Pod{p}, gpu.Rules{Weights: map[string]string{"example.com/npu": "1", "amd.com/gpu": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	return owners[p.UID]
}

// podOf waits for a pod of a workload, and says what it names as its owner.
func podOf(t *testing.T, server *kubetest.Cluster, ns, app string) (*corev1.Pod, budget.Workload) {
	t.Helper()
	var pod corev1.Pod
	kubetest.WaitFor(t, "a pod of "+app, func(ctx context.Context) error {
		list, err := server.Client().CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
		if err != nil || len(list.Items) == 0 {
			return fmt.Errorf("there is none (%w)", err)
		}
		pod = list.Items[0]
		return nil
	})
	o := metav1.GetControllerOf(&pod)
	return &pod, budget.Workload{Namespace: ns, Owner: ledger.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: string(o.UID)}}
}

func TestOwnersAreWhatTheClusterHas(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	d := kubetest.Create(t, server, kubetest.Deployment(ns, "d", 1, kubetest.GPUs(1)))
	s := kubetest.Create(t, server, kubetest.StatefulSet(ns, "s", 1, kubetest.Resource("example.com/npu", "1")))
	j := kubetest.Create(t, server, kubetest.Job(ns, "j", 1, kubetest.ClaimTemplate("gpus")))
	kubetest.Create(t, server, kubetest.Deployment(ns, "api", 1))
	kubetest.Create(t, server, kubetest.Deployment(ns, "amd", 1, kubetest.Resource("amd.com/gpu", "1")))
	for app, want := range map[string]budget.Workload{
		"d": workloadOf("apps/v1", "Deployment", d), "s": workloadOf("apps/v1", "StatefulSet", s), "j": workloadOf("batch/v1", "Job", j),
	} {
		pod, owner := podOf(t, server, ns, app)
		if got := ownerOf(t, c, pod.Labels, owner); got.Workload != want || got.Stopped {
			t.Errorf("the pod of %s is of %+v", app, got)
		}
		if got := ownerOf(t, c, map[string]string{"team": "a"}, owner); got.Workload.Name != "" || !strings.Contains(got.Reason, "does not select it") {
			t.Errorf("a pod with other labels is of %+v", got)
		}
		owner.UID = "another"
		if got := ownerOf(t, c, pod.Labels, owner); got.Workload.Name != "" || !strings.Contains(got.Reason, "it is gone") {
			t.Errorf("a pod of another uid's is of %+v", got)
		}
	}
	pod, _ := podOf(t, server, ns, "d")
	if got := ownerOf(t, c, pod.Labels, workloadOf("apps/v1", "Deployment", d)); got.Workload.Name != "" ||
		!strings.Contains(got.Reason, "no Deployment owns pods") {
		t.Errorf("a pod that names a Deployment is of %+v", got)
	}
	for _, app := range []string{"api", "amd"} {
		pod, owner := podOf(t, server, ns, app)
		if got := ownerOf(t, c, pod.Labels, owner); got.Workload.Name != "" || !strings.Contains(got.Reason, "asks for no GPUs") {
			t.Errorf("%s: %+v", app, got)
		}
	}
}

// TestWorkloadsWithInvalidOwners has workloads with owner references of names that no object can have. A
// request for one would fail, and the budget's other workloads would not be paused.
func TestWorkloadsWithInvalidOwners(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	of := kubetest.Deployment(ns, "of", 0, kubetest.GPUs(1))
	rs := kubetest.Create(t, server, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: "rs", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "Deployment", Name: "a%b", UID: "u", Controller: new(true),
			}},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: new(int32), Selector: of.Spec.Selector, Template: of.Spec.Template},
	})
	if got := ownerOf(t, c, of.Spec.Template.Labels, workloadOf("apps/v1", "ReplicaSet", rs)); got.Workload.Name != "" ||
		!strings.Contains(got.Reason, "no Deployment controls it") {
		t.Errorf("the pod is of %+v", got)
	}
	of.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "example.com/v1", Kind: "Job\nbudget a: within its limit", Name: "n", UID: "u", Controller: new(true),
	}}
	state, err := c.Workload(t.Context(), workloadOf("apps/v1", "Deployment", kubetest.Create(t, server, of)))
	if err != nil || state.PauseObstacle != "" {
		t.Errorf("it is driven by %q (%v)", state.PauseObstacle, err)
	}
}
