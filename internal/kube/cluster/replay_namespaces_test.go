package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// TestDeletedNamespacesAreReported expects the last labels of a namespace, for pods that were created and
// deleted in it between two observations. Another namespace of the name may exist by now.
func TestDeletedNamespacesAreReported(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	node := kubetest.Create(t, server, kubetest.Node("former", 8))
	stays := server.Namespace(t, "kind=stays")
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	pods := map[string]string{} // by namespace
	for _, kind := range []string{"gone", "replaced"} {
		ns := server.Namespace(t, "kind="+kind)
		pod := kubetest.Create(t, server, kubetest.Pod(ns, "test", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
		server.WaitRunning(t, pod)
		remove(t, server, pod)
		pods[kind] = string(pod.UID)
		server.EndNamespace(t, ns)
		if kind == "replaced" {
			again := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"kind": "another"}}}
			kubetest.Create(t, server, again)
		}
	}
	there := kubetest.Create(t, server, kubetest.Pod(stays, "test", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, there)
	remove(t, server, there)
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if !after.Replay.Complete || after.Replay.FormerMissing != "" {
		t.Fatalf("replay: %q, %q", after.Replay.Reason, after.Replay.FormerMissing)
	}
	for kind, uid := range pods {
		if labels := after.Replay.Former[uid]; labels["kind"] != kind {
			t.Errorf("the namespace that is %s had the labels %v", kind, labels)
		}
	}
	for _, p := range in(stays, after.Replay.Ended) {
		if labels, gone := after.Replay.Former[p.UID]; gone {
			t.Errorf("of a namespace that stays it says %v", labels)
		}
	}
	again := observe(t, c, gpu.ObserveOptions{From: after.ResourceVersion})
	for kind, uid := range pods { // other tests have namespaces that end in the same cluster
		if labels, told := again.Replay.Former[uid]; told {
			t.Errorf("later it tells again of the one that is %s: %v", kind, labels)
		}
	}
}
