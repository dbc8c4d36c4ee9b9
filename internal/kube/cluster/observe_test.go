package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// connect connects to a cluster as the person of a kubeconfig.
func connect(t testing.TB, kubeconfig string) *kubecluster.Cluster {
	t.Helper()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: kubeconfig}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return kubecluster.New(client)
}

// observe looks, and fails the test where that fails.
func observe(t testing.TB, c *kubecluster.Cluster, o gpu.ObserveOptions) gpu.Observation {
	t.Helper()
	got, err := c.Observe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// in keeps the pods of a namespace.
func in(namespace string, pods []gpu.Pod) []gpu.Pod {
	var out []gpu.Pod
	for _, p := range pods {
		if p.Namespace == namespace {
			out = append(out, p)
		}
	}
	return out
}

// names are the sorted names of pods.
func names(pods []gpu.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

func remove(t testing.TB, c *kubetest.Cluster, pod *corev1.Pod) {
	t.Helper()
	if err := c.Client().CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.WaitGone(t, pod)
}

func TestObserveSeesPodsWithGPUsAlone(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t, "team=a")
	node := kubetest.Create(t, server, kubetest.Node("observe-sees", 8))
	trained := kubetest.Create(t, server, kubetest.Pod(ns, "train", kubetest.GPUs(2), kubetest.OnNode(node.Name),
		kubetest.Labels(map[string]string{"app": "x"})))
	kubetest.Create(t, server, kubetest.Pod(ns, "web"))
	server.WaitRunning(t, trained)

	c := connect(t, server.Kubeconfig())
	got := observe(t, c, gpu.ObserveOptions{})
	pods := in(ns, got.Pods)
	if len(pods) != 1 || pods[0].Name != "train" || pods[0].Shares[0].Units.String() != "2/1" || pods[0].Node.Model != "Tesla-T4" ||
		pods[0].Labels["app"] != "x" {
		t.Fatalf("got %+v", pods)
	}
	if !got.Listed || got.Replay.Complete || got.Replay.Reason == "" {
		t.Errorf("a first observation lists all, and has no replay: %v %+v", got.Listed, got.Replay)
	}
	if got.Namespaces[ns]["team"] != "a" || got.PriorityClasses["system-node-critical"] == 0 || got.Allocatable.Sign() <= 0 {
		t.Errorf("got namespaces %v, priority classes %v, %v GPUs", got.Namespaces[ns], got.PriorityClasses, got.Allocatable)
	}
	if i := slices.IndexFunc(got.Nodes, func(n gpu.Node) bool { return n.Name == node.Name }); i < 0 || got.Nodes[i].NotReady {
		t.Errorf("the node is missing from %d nodes, or not ready", len(got.Nodes))
	}
	system, err := server.Client().CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
	if err != nil || got.ClusterUID != string(system.UID) {
		t.Errorf("the cluster's uid is %q, want %q (%v)", got.ClusterUID, system.UID, err)
	}
	if skew := time.Since(got.At); skew < -2*time.Second || skew > time.Minute {
		t.Errorf("the server's time is %v off", skew)
	}
	if calls := c.Calls(); calls["list pods"] < 2 || calls["list nodes"] != 1 || calls["get namespaces"] != 1 {
		t.Errorf("calls: %v", calls)
	}
}

// TestObserveReportsPodsThatItDoesNotCount: a static pod, and a request beyond all machines.
func TestObserveReportsPodsThatItDoesNotCount(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("observe-problems", 1_000_000))
	pods := []*corev1.Pod{
		kubetest.Create(t, server, kubetest.Pod(ns, "static", kubetest.GPUs(9000), kubetest.BoundTo(node.Name),
			kubetest.Annotation(corev1.MirrorPodAnnotationKey, "x"))),
		kubetest.Create(t, server, kubetest.Pod(ns, "vast", kubetest.GPUs(20_000), kubetest.OnNode(node.Name))),
	}
	for _, pod := range pods {
		server.WaitRunning(t, pod)
	}
	found := in(ns, observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{}).Pods)
	if len(found) != 2 {
		t.Fatalf("%d pods are reported: %v", len(found), names(found))
	}
	for _, p := range found {
		want := map[string]string{"static": "it is a static pod", "vast": "more than any machine has: counted as none"}[p.Name]
		if p.Holds() || !strings.Contains(strings.Join(p.Problems.Texts(), "; "), want) {
			t.Errorf("%s holds %v: %q", p.Name, p.Shares, p.Problems)
		}
	}
}

func TestObserveReadsPageAfterPage(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	var want []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		kubetest.Create(t, server, kubetest.Pod(ns, name, kubetest.GPUs(1), kubetest.BoundTo("nowhere")))
		want = append(want, name)
	}
	c := connect(t, server.Kubeconfig())
	c.SetPageSize(2)
	if got := names(in(ns, observe(t, c, gpu.ObserveOptions{}).Pods)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := c.Calls()["list pods"]; n < 4 {
		t.Errorf("%d calls, want at least four: the position, and three pages", n)
	}
}

func TestDevicesByClaimAreCountedAlsoWhenThePodIsGone(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := nodeWithDevices(t, server, ns, "claims-counted")
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "dra", kubetest.ClaimTemplate("two"), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, pod)
	if got := in(ns, observe(t, c, gpu.ObserveOptions{}).Pods); len(got) != 1 || len(got[0].Shares) != 1 || got[0].Shares[0].Units.String() != "2/1" {
		t.Fatalf("got %+v, want two devices", got)
	}
	remove(t, server, pod)
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if got := in(ns, after.Replay.Ended); len(got) != 1 || len(got[0].Shares) != 1 || got[0].Shares[0].Units.String() != "2/1" {
		t.Errorf("after it was deleted with its claim: %+v (%v)", got, after.Replay.Reason)
	}
}

// TestEndOfAPodWithDeletedClaimIsReported lists after a pod has finished and its claims were deallocated.
func TestEndOfAPodWithDeletedClaimIsReported(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("claims-gone", 0))
	kubetest.Create(t, server, kubetest.DeviceClass("claims-gone", "gpu.nvidia.com"))
	kubetest.Create(t, server, kubetest.ResourceSlice(node.Name, "gpu.nvidia.com", 1, "16Gi"))
	kubetest.Create(t, server, kubetest.ResourceClaimTemplate(ns, "one", "claims-gone", 1))
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "dra", kubetest.ClaimTemplate("one"), kubetest.OnNode(node.Name), kubetest.RunFor(time.Second)))
	server.WaitFinished(t, pod)
	kubetest.WaitFor(t, "the claim to be deallocated", func(ctx context.Context) error {
		claims, err := server.Client().ResourceV1().ResourceClaims(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(claims.Items) > 0 && claims.Items[0].Status.Allocation != nil {
			return errors.New("it is still allocated")
		}
		return nil
	})
	got := in(ns, observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{}).Pods)
	if len(got) != 1 || got[0].End.Source != ledger.ContainerFinished {
		t.Errorf("got %+v, want its end", got)
	}
}

func TestLivePodsAreThoseThatHoldGPUsNow(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns, other := server.Namespace(t), server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("live-pods", 8))
	one := map[string]string{"team": "one"}
	live := kubetest.Create(t, server, kubetest.Pod(ns, "live", kubetest.GPUs(1), kubetest.OnNode(node.Name), kubetest.Labels(one)))
	done := kubetest.Create(t, server, kubetest.Pod(ns, "done", kubetest.GPUs(1), kubetest.OnNode(node.Name), kubetest.Labels(one),
		kubetest.RunFor(time.Second)))
	// The ledger may count it by the labels that it had before.
	relabeled := kubetest.Create(t, server, kubetest.Pod(ns, "relabeled", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	kubetest.Create(t, server, kubetest.Pod(other, "elsewhere", kubetest.GPUs(1), kubetest.OnNode(node.Name), kubetest.Labels(one)))
	server.WaitRunning(t, live)
	server.WaitRunning(t, relabeled)
	server.WaitFinished(t, done)
	got, err := connect(t, server.Kubeconfig()).LivePods(t.Context(), []string{ns}, gpu.Rules{})
	if err != nil || !slices.Equal(names(got), []string{"live", "relabeled"}) {
		t.Errorf("got %v (%v), want the two that live in the namespace", names(got), err)
	}
}
