package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// poolNode is a node of the server as pools see it.
func poolNode(t *testing.T, c *cluster.Cluster, name string) node.Node {
	t.Helper()
	l, err := c.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !l.Observed() {
		t.Fatal("the observation says that it has nothing")
	}
	n := slices.IndexFunc(l.Nodes, func(n node.Node) bool { return n.Name == name })
	if n < 0 {
		t.Fatalf("there is no node %s among %d", name, len(l.Nodes))
	}
	return l.Nodes[n]
}

// readyNode waits until the stand-in kubelet reports for a node, and returns it.
func readyNode(t *testing.T, c *cluster.Cluster, name string) (n node.Node) {
	t.Helper()
	kubetest.WaitFor(t, "the node to be ready", func(context.Context) error {
		if n = poolNode(t, c, name); n.Ready != node.ReadyTrue {
			return fmt.Errorf("it is %+v", n)
		}
		return nil
	})
	return n
}

// TestPoolsCordonNodes has a pool mark, cordon and uncordon a node. It leaves a node that another process
// cordoned as it is.
func TestPoolsCordonNodes(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	made := kubetest.Create(t, server, kubetest.Node("cordoned", 8))
	c := connect(t, server.Kubeconfig())
	ctx := t.Context()
	n := readyNode(t, c, made.Name)
	if n.UID != string(made.UID) || n.Cordoned || n.Pool != "" {
		t.Fatalf("the node is seen as %+v", n)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.MarkNode(ctx, n, "pool-1"))
	must(c.MarkNode(ctx, n, "pool-1"))
	if err := c.MarkNode(ctx, n, "pool-2"); !errors.Is(err, node.ErrChanged) {
		t.Errorf("another pool marks it: %v", err)
	}
	must(c.UnmarkNode(ctx, n, "pool-2"))
	if got := poolNode(t, c, n.Name); got.Pool != "pool-1" {
		t.Errorf("another pool removed its mark: %+v", got)
	}
	must(c.UnmarkNode(ctx, n, "pool-1"))
	if got := poolNode(t, c, n.Name); got.Pool != "" {
		t.Errorf("its mark is not removed: %+v", got)
	}
	must(c.MarkNode(ctx, n, "pool-1"))
	must(c.CordonNode(ctx, n, "pool-1"))
	must(c.CordonNode(ctx, n, "pool-1"))
	if got := poolNode(t, c, n.Name); !got.Cordoned || got.CordonedBy != "pool-1" || got.Pool != "pool-1" {
		t.Fatalf("cordoned, it is seen as %+v", got)
	}
	must(c.UncordonNode(ctx, n, "pool-2"))
	if got := poolNode(t, c, n.Name); !got.Cordoned {
		t.Error("another pool uncordoned it")
	}
	must(c.UncordonNode(ctx, n, "pool-1"))
	if got := poolNode(t, c, n.Name); got.Cordoned || got.CordonedBy != "" || got.Pool != "pool-1" {
		t.Errorf("uncordoned, it is seen as %+v", got)
	}
	_, err := server.Client().CoreV1().Nodes().Patch(ctx, n.Name, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	must(err)
	must(c.CordonNode(ctx, n, "pool-1"))
	must(c.UncordonNode(ctx, n, "pool-1"))
	if got := poolNode(t, c, n.Name); !got.Cordoned || got.CordonedBy != "" {
		t.Errorf("what somebody else cordoned is seen as %+v", got)
	}
}

// TestOnlyTheObservedNodeIsChanged requires the UID and the pool's mark.
func TestOnlyTheObservedNodeIsChanged(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	kubetest.Create(t, server, kubetest.Node("exactly-one", 8))
	c := connect(t, server.Kubeconfig())
	ctx := t.Context()
	n := readyNode(t, c, "exactly-one")
	if err := c.DeleteNode(ctx, n, "pool-1"); !errors.Is(err, node.ErrChanged) {
		t.Errorf("a node without the mark is deleted: %v", err)
	}
	earlier := n
	earlier.UID, earlier.Pool = "00000000-0000-0000-0000-000000000000", "pool-1"
	for name, do := range map[string]func() error{
		"marked":   func() error { return c.MarkNode(ctx, earlier, "pool-1") },
		"cordoned": func() error { return c.CordonNode(ctx, earlier, "pool-1") },
	} {
		if err := do(); !errors.Is(err, node.ErrChanged) {
			t.Errorf("a later node of the name is %s: %v", name, err)
		}
	}
	if err := c.DeleteNode(ctx, earlier, "pool-1"); err != nil {
		t.Errorf("its name is another node's: %v", err)
	}
	if got := poolNode(t, c, n.Name); got.UID != n.UID || got.Cordoned || got.Pool != "" {
		t.Fatalf("the later node is %+v", got)
	}
	if err := c.MarkNode(ctx, n, "pool-1"); err != nil {
		t.Fatal(err)
	}
	n = poolNode(t, c, n.Name)
	if err := c.DeleteNode(ctx, n, "pool-1"); !errors.Is(err, node.ErrChanged) {
		t.Errorf("a Ready node is deleted: %v", err)
	}
	if err := server.Silence(ctx, n.Name); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.DeleteNode(ctx, n, "pool-1"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := server.Client().CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{}); err == nil {
		t.Error("the node is still there")
	}
}

// TestNodePodsForADrain lists the pods of only that node.
func TestNodePodsForADrain(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	kubetest.Create(t, server, kubetest.Node("drained", 8))
	kubetest.Create(t, server, kubetest.Node("not-drained", 8))
	bare := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "bare", kubetest.GPUs(1), kubetest.OnNode("drained"))))
	server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "kept", kubetest.GPUs(1), kubetest.Annotation("gpupool/protected", "true"),
		kubetest.OnNode("drained"))))
	server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "elsewhere", kubetest.GPUs(1), kubetest.OnNode("not-drained"))))
	pods, err := connect(t, server.Kubeconfig()).NodePods(t.Context(), "drained")
	if err != nil {
		t.Fatal(err)
	}
	ours := slices.DeleteFunc(pods, func(p node.Pod) bool { return p.Namespace != ns })
	if len(ours) != 2 {
		t.Fatalf("on the node are %+v", ours)
	}
	for _, p := range ours {
		want := node.Pod{Namespace: ns, Name: p.Name, UID: p.UID, Protected: p.Name == "kept", Grace: p.Grace}
		if p != want || p.Grace <= 0 {
			t.Errorf("seen as %+v, not %+v", p, want)
		}
	}
	w := node.Remaining(ours, node.Evict)
	if w.Left != 2 || len(w.Evict) != 1 || w.Evict[0].UID != string(bare.UID) {
		t.Errorf("left is %+v", w)
	}
}
