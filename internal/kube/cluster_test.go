package kube_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// look connects to a cluster as the person of a kubeconfig.
func look(t testing.TB, kubeconfig string) *kube.Cluster {
	t.Helper()
	client, err := kube.Open(kube.Config{ConfigPath: kubeconfig}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return kube.NewCluster(client)
}

// observe looks, and fails the test where that fails.
func observe(t testing.TB, c *kube.Cluster, o reconcile.ObserveOptions) reconcile.ClusterObservation {
	t.Helper()
	got, err := c.Observe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// in keeps the sightings of a namespace.
func in(namespace string, pods []gpu.Sighting) []gpu.Sighting {
	var out []gpu.Sighting
	for _, p := range pods {
		if p.Namespace == namespace {
			out = append(out, p)
		}
	}
	return out
}

// names are the sorted names of sightings.
func names(pods []gpu.Sighting) []string {
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
	trained := kubetest.Create(t, server, kubetest.Pod(ns, "train", kubetest.GPUs(2), kubetest.OnNode(node.Name), kubetest.Labels(map[string]string{"app": "x"})))
	kubetest.Create(t, server, kubetest.Pod(ns, "web"))
	server.WaitRunning(t, trained)

	c := look(t, server.Kubeconfig())
	got := observe(t, c, reconcile.ObserveOptions{})
	pods := in(ns, got.Pods)
	if len(pods) != 1 || pods[0].Name != "train" || pods[0].Shares[0].Units.String() != "2/1" || pods[0].Node.Model != "Tesla-T4" || pods[0].Labels["app"] != "x" {
		t.Fatalf("got %+v", pods)
	}
	if !got.Listed || got.Replay.Complete || got.Replay.Reason == "" {
		t.Errorf("a first look lists all, and has no replay: %v %+v", got.Listed, got.Replay)
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

func TestObserveReadsPageAfterPage(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	var want []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		kubetest.Create(t, server, kubetest.Pod(ns, name, kubetest.GPUs(1), kubetest.BoundTo("nowhere")))
		want = append(want, name)
	}
	c := look(t, server.Kubeconfig())
	c.SetPageSize(2)
	if got := names(in(ns, observe(t, c, reconcile.ObserveOptions{}).Pods)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := c.Calls()["list pods"]; n < 4 {
		t.Errorf("%d calls, want at least four: the position, and three pages", n)
	}
}

func TestReplayTellsOfPodsBornAndDeletedBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("replay-tells", 8))
	stays := kubetest.Create(t, server, kubetest.Pod(ns, "stays", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	goes := kubetest.Create(t, server, kubetest.Pod(ns, "goes", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, stays)
	server.WaitRunning(t, goes)
	c := look(t, server.Kubeconfig())
	before := observe(t, c, reconcile.ObserveOptions{})

	brief := kubetest.Create(t, server, kubetest.Pod(ns, "brief", kubetest.GPUs(3), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, brief)
	remove(t, server, brief)
	remove(t, server, goes)
	born := kubetest.Create(t, server, kubetest.Pod(ns, "born", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, born)

	started := time.Now()
	after := observe(t, c, reconcile.ObserveOptions{From: before.ResourceVersion})
	t.Logf("the second look took %v", time.Since(started))
	if !after.Replay.Complete || after.Listed {
		t.Fatalf("the replay is not complete, or all was listed: %q, listed %v", after.Replay.Reason, after.Listed)
	}
	if got := names(in(ns, after.Replay.Ended)); !slices.Equal(got, []string{"brief", "goes"}) {
		t.Errorf("ended: %v, want brief and goes", got)
	}
	if got := names(in(ns, after.Pods)); !slices.Equal(got, []string{"born"}) {
		t.Errorf("changed: %v, want born", got)
	}
	for _, p := range in(ns, after.Replay.Ended) {
		if p.Scheduled.At.IsZero() || p.End.At.IsZero() || p.End.At.Before(p.Scheduled.At) || p.End.At.After(after.At.Add(time.Second)) {
			t.Errorf("%s was from %v to %v (%s)", p.Name, p.Scheduled.At, p.End.At, p.End.Source)
		}
	}
}

// TestAReplayTellsOfTheEndOfAPodThatNoLongerSaysWhatItHolds has the annotation that
// made a pod hold a part of a GPU taken off it before it is deleted.
func TestAReplayTellsOfTheEndOfAPodThatNoLongerSaysWhatItHolds(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := look(t, server.Kubeconfig())
	before := observe(t, c, reconcile.ObserveOptions{})
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "fraction", kubetest.Annotation("gpu-fraction", "0.5"), kubetest.BoundTo("nowhere")))
	unmarked := []byte(`{"metadata": {"annotations": null}}`)
	if _, err := server.Client().CoreV1().Pods(ns).Patch(t.Context(), pod.Name, types.MergePatchType, unmarked, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	now := int64(0)
	if err := server.Client().CoreV1().Pods(ns).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	after := observe(t, c, reconcile.ObserveOptions{From: before.ResourceVersion})
	if ended, there := names(in(ns, after.Replay.Ended)), names(in(ns, after.Pods)); !after.Replay.Complete || !slices.Equal(ended, []string{"fraction"}) || len(there) > 0 {
		t.Errorf("replay %+v: ended %v, there %v, want its end", after.Replay.Reason, ended, there)
	}
}

func TestNothingNewIsACompleteReplay(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := look(t, server.Kubeconfig())
	before := observe(t, c, reconcile.ObserveOptions{})
	started := time.Now()
	after := observe(t, c, reconcile.ObserveOptions{From: before.ResourceVersion})
	if !after.Replay.Complete || after.Listed {
		t.Errorf("got %+v, listed %v", after.Replay.Reason, after.Listed)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestAnIdleClusterTakesItsServersWord has nothing happen to pods: the replay is
// complete by the bookmark alone, which says so within seconds.
func TestAnIdleClusterTakesItsServersWord(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t, "--nodes=1")
	c := look(t, server.Kubeconfig())
	before := observe(t, c, reconcile.ObserveOptions{})
	for range 3 {
		server.Namespace(t)
		started := time.Now()
		after := observe(t, c, reconcile.ObserveOptions{From: before.ResourceVersion})
		t.Logf("it took %v and %d watches", time.Since(started), c.Calls()["watch pods"])
		if !after.Replay.Complete || after.Listed || len(after.Pods)+len(after.Replay.Ended) > 0 || after.ResourceVersion == before.ResourceVersion {
			t.Errorf("replay %+v, listed %v, %d pods, from %s to %s", after.Replay, after.Listed, len(after.Pods), before.ResourceVersion, after.ResourceVersion)
		}
		before = after
	}
}

func TestAListMayBeAskedForBesideAReplay(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	kubetest.Create(t, server, kubetest.Pod(ns, "old", kubetest.GPUs(1), kubetest.BoundTo("nowhere")))
	c := look(t, server.Kubeconfig())
	before := observe(t, c, reconcile.ObserveOptions{})
	after := observe(t, c, reconcile.ObserveOptions{From: before.ResourceVersion, List: true})
	if !after.Replay.Complete || !after.Listed || !slices.Equal(names(in(ns, after.Pods)), []string{"old"}) {
		t.Errorf("replay %+v, listed %v, pods %v", after.Replay, after.Listed, names(in(ns, after.Pods)))
	}
}

func TestALostHistoryIsAGapAndAListInstead(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	ns := server.Namespace(t)
	kubetest.Create(t, server, kubetest.Pod(ns, "there", kubetest.GPUs(1)))
	c := look(t, server.Kubeconfig())
	before := observe(t, c, reconcile.ObserveOptions{})
	kubetest.Create(t, server, kubetest.Pod(ns, "later", kubetest.GPUs(1)))
	server.Restart(t)
	kubetest.WaitFor(t, "the API server to have forgotten", func(ctx context.Context) error {
		second := int64(1)
		w, err := server.Client().CoreV1().Pods("").Watch(ctx, metav1.ListOptions{ResourceVersion: before.ResourceVersion, TimeoutSeconds: &second})
		if err != nil {
			return err
		}
		defer w.Stop()
		for event := range w.ResultChan() {
			if event.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
				return nil
			}
		}
		return errors.New("it still tells of what was before")
	})
	brief := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "brief", kubetest.GPUs(1))))
	remove(t, server, brief)
	after := observe(t, c, reconcile.ObserveOptions{From: before.ResourceVersion})
	if after.Replay.Complete || !strings.Contains(after.Replay.Reason, "no longer has the history") {
		t.Errorf("got %+v", after.Replay)
	}
	if got := names(in(ns, after.Replay.Ended)); !slices.Equal(got, []string{"brief"}) {
		t.Errorf("what is left of the history tells of the end of %v, want brief", got)
	}
	if got := names(in(ns, after.Pods)); !after.Listed || !slices.Equal(got, []string{"later", "there"}) {
		t.Errorf("listed %v: %v", after.Listed, got)
	}
	for stored, want := range map[string]string{"999999999": "restored", "yesterday": "no number", "0": "no number"} {
		got := observe(t, c, reconcile.ObserveOptions{From: stored})
		if got.Replay.Complete || !strings.Contains(got.Replay.Reason, want) || !got.Listed {
			t.Errorf("from %s: %+v, listed %v", stored, got.Replay, got.Listed)
		}
	}
}

func TestDevicesByClaimAreCountedAlsoWhenThePodIsGone(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("claims-counted", 0))
	kubetest.Create(t, server, kubetest.DeviceClass("claims-counted", "gpu.nvidia.com"))
	kubetest.Create(t, server, kubetest.ResourceSlice(node.Name, "gpu.nvidia.com", 4, "16Gi"))
	kubetest.Create(t, server, kubetest.ResourceClaimTemplate(ns, "two", "claims-counted", 2))
	c := look(t, server.Kubeconfig())
	before := observe(t, c, reconcile.ObserveOptions{})
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "dra", kubetest.ClaimTemplate("two"), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, pod)
	if got := in(ns, observe(t, c, reconcile.ObserveOptions{}).Pods); len(got) != 1 || len(got[0].Shares) != 1 || got[0].Shares[0].Units.String() != "2/1" {
		t.Fatalf("got %+v, want two devices", got)
	}
	remove(t, server, pod)
	after := observe(t, c, reconcile.ObserveOptions{From: before.ResourceVersion})
	if got := in(ns, after.Replay.Ended); len(got) != 1 || len(got[0].Shares) != 1 || got[0].Shares[0].Units.String() != "2/1" {
		t.Errorf("after it was deleted with its claim: %+v (%v)", got, after.Replay.Reason)
	}
}

// TestTheEndOfAPodIsToldAlsoWhereItsClaimIsGone lists after a pod has finished,
// when its claims were taken back.
func TestTheEndOfAPodIsToldAlsoWhereItsClaimIsGone(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("claims-gone", 0))
	kubetest.Create(t, server, kubetest.DeviceClass("claims-gone", "gpu.nvidia.com"))
	kubetest.Create(t, server, kubetest.ResourceSlice(node.Name, "gpu.nvidia.com", 1, "16Gi"))
	kubetest.Create(t, server, kubetest.ResourceClaimTemplate(ns, "one", "claims-gone", 1))
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "dra", kubetest.ClaimTemplate("one"), kubetest.OnNode(node.Name), kubetest.RunFor(time.Second)))
	server.WaitFinished(t, pod)
	kubetest.WaitFor(t, "the claim to be taken back", func(ctx context.Context) error {
		claims, err := server.Client().ResourceV1().ResourceClaims(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(claims.Items) > 0 && claims.Items[0].Status.Allocation != nil {
			return errors.New("it is still allocated")
		}
		return nil
	})
	got := in(ns, observe(t, look(t, server.Kubeconfig()), reconcile.ObserveOptions{}).Pods)
	if len(got) != 1 || got[0].End.Source != gpu.ContainerFinished {
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
	done := kubetest.Create(t, server, kubetest.Pod(ns, "done", kubetest.GPUs(1), kubetest.OnNode(node.Name), kubetest.Labels(one), kubetest.RunFor(time.Second)))
	// The ledger may count it by the labels that it had before.
	relabelled := kubetest.Create(t, server, kubetest.Pod(ns, "relabelled", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	kubetest.Create(t, server, kubetest.Pod(other, "elsewhere", kubetest.GPUs(1), kubetest.OnNode(node.Name), kubetest.Labels(one)))
	server.WaitRunning(t, live)
	server.WaitRunning(t, relabelled)
	server.WaitFinished(t, done)
	got, err := look(t, server.Kubeconfig()).LivePods(t.Context(), budget.Selector{
		Namespaces: []string{ns}, MatchLabels: one, MatchExpressions: []budget.Expression{{Key: "team", Operator: "In", Values: []string{"one", "two"}}},
	}, gpu.Rules{})
	if err != nil || !slices.Equal(names(got), []string{"live", "relabelled"}) {
		t.Errorf("got %v (%v), want the two that live in the namespace", names(got), err)
	}
}
