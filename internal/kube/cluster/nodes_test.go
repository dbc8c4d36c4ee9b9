package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// only is the only pod of a namespace in an observation, or in its replay.
func only(t *testing.T, namespace string, pods []gpu.Pod) gpu.Pod {
	t.Helper()
	found := in(namespace, pods)
	if len(found) != 1 {
		t.Fatalf("pods: %v", names(found))
	}
	return found[0]
}

// drop deletes a node, and waits until it is gone.
func drop(t *testing.T, server *kubetest.Cluster, name string) {
	t.Helper()
	nodes := server.Client().CoreV1().Nodes()
	if err := nodes.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "the node to be gone", func(ctx context.Context) error {
		_, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
}

// TestANodeIsKnownByWhatTheReplayTells of it, and by an earlier observation.
func TestANodeIsKnownByWhatTheReplayTells(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	before := observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{})
	node := kubetest.Create(t, server, kubetest.Node("trust-replay", 8))
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "train", kubetest.GPUs(4), kubetest.BoundTo(node.Name), kubetest.StopsAfter(time.Hour)))
	server.WaitRunning(t, pod)
	// Its kubelet restarts, and then its machine is gone.
	empty := []byte(`{"status":{"capacity":{"nvidia.com/gpu":"0"},"allocatable":{"nvidia.com/gpu":"0"}}}`)
	if _, err := server.Client().CoreV1().Nodes().Patch(t.Context(), node.Name, types.StrategicMergePatchType, empty, metav1.PatchOptions{},
		"status"); err != nil {
		t.Fatal(err)
	}
	seen := observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{From: before.ResourceVersion, List: true})
	if s := only(t, ns, seen.Pods); s.Shown == 0 || s.Capped || len(s.Shares) != 1 {
		t.Errorf("while its kubelet restarts: shown by %d, capped %v: %v", s.Shown, s.Capped, s.Problems)
	}
	drop(t, server, node.Name)
	for name, test := range map[string]struct {
		options gpu.ObserveOptions
		shown   bool
	}{
		"a replay":        {gpu.ObserveOptions{From: before.ResourceVersion, List: true}, true},
		"what was seen":   {gpu.ObserveOptions{Nodes: seen.Nodes}, true},
		"nothing at all":  {gpu.ObserveOptions{}, false},
		"a later history": {gpu.ObserveOptions{From: observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{}).ResourceVersion, List: true}, false},
	} {
		s := only(t, ns, observe(t, connect(t, server.Kubeconfig()), test.options).Pods)
		if !s.Node.Gone || (s.Shown > 0) != test.shown || len(s.Shares) != 1 || s.Shares[0].Units.RatString() != "4" ||
			(s.Node.Model == "Tesla-T4") != test.shown {
			t.Errorf("by %s: shown by %d on %+v", name, s.Shown, s.Node)
		}
	}
	told := observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{From: before.ResourceVersion}).Replay.Nodes
	found := false
	for _, n := range told {
		found = found || n.UID == string(node.UID) && n.Gone && n.Capacity["nvidia.com/gpu"].RatString() == "8"
	}
	if !found {
		t.Errorf("the replay has the nodes %+v", told)
	}
}

// TestNobodyMayWatchNodes is no reason to stop: it says what it means.
func TestNobodyMayWatchNodes(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	before := observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{})
	read := func(verbs []string, group string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	allow(t, server, ns, "reader", read([]string{"get", "list"}, "", "namespaces", "nodes"), read([]string{"list", "watch"}, "", "pods"),
		read([]string{"list"}, "scheduling.k8s.io", "priorityclasses"), read([]string{"list", "watch"}, "resource.k8s.io", "resourceslices", "resourceclaims"))
	limited := connect(t, server.ServiceAccountKubeconfig(t, ns, "reader"))
	after := observe(t, limited, gpu.ObserveOptions{From: before.ResourceVersion})
	if text := strings.Join(after.Warnings, "\n"); !after.Replay.Complete || !strings.Contains(text, "nodes") || !strings.Contains(text, "are estimates") {
		t.Errorf("replay %+v, warnings %q", after.Replay.Reason, after.Warnings)
	}
}

// TestAFractionIsOfAGPUThatItsSchedulerReserved, whatever pods say.
func TestAFractionIsOfAGPUThatItsSchedulerReserved(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("trust-fraction", 2))
	group := kubetest.Group
	holds := server.Reserve(t, node.Name, ns)
	half := kubetest.Annotation("gpu-fraction", "0.5")
	for _, pod := range []*corev1.Pod{
		kubetest.Pod(ns, "half", half, group(ns), kubetest.BoundTo(node.Name)),
		kubetest.Pod(ns, "forged", half, kubetest.Annotation("gpu-fraction-num-devices", "999"), group("mine"), kubetest.BoundTo(node.Name)),
	} {
		server.WaitRunning(t, kubetest.Create(t, server, pod))
	}
	held := func(pods []gpu.Pod) map[string]string {
		out := map[string]string{}
		for _, s := range in(ns, pods) {
			out[s.Name] = "none"
			for _, share := range s.Shares {
				if out[s.Name] = share.Units.RatString(); share.Claim != node.Name+"/"+ns || share.Whole == nil || share.Whole.RatString() != "1" {
					t.Errorf("%s has a part of %v of %q", s.Name, share.Whole, share.Claim)
				}
			}
			if s.Name == "forged" && !strings.Contains(strings.Join(s.Problems.Texts(), "\n"), "by annotation") {
				t.Errorf("nothing says why it does not count: %q", s.Problems)
			}
		}
		return out
	}
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	if got := fmt.Sprint(held(before.Pods)); got != "map[forged:none half:1/2]" {
		t.Errorf("pods hold %s", got)
	}
	// The last of a group's pods and its reservation go together.
	server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "brief", half, group(ns), kubetest.BoundTo(node.Name))))
	for _, pod := range []*corev1.Pod{
		kubetest.Pod(ns, "brief"), holds,
	} {
		if err := server.Client().CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		server.WaitGone(t, pod)
	}
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if got := fmt.Sprint(held(after.Replay.Ended)); got != "map[brief:1/2]" {
		t.Errorf("pods that ended held %s", got)
	}
}
