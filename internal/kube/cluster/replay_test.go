package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func TestReplayTellsOfPodsBornAndDeletedBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("replay-tells", 8))
	stays := kubetest.Create(t, server, kubetest.Pod(ns, "stays", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	goes := kubetest.Create(t, server, kubetest.Pod(ns, "goes", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, stays)
	server.WaitRunning(t, goes)
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})

	brief := kubetest.Create(t, server, kubetest.Pod(ns, "brief", kubetest.GPUs(3), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, brief)
	remove(t, server, brief)
	remove(t, server, goes)
	born := kubetest.Create(t, server, kubetest.Pod(ns, "born", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, born)

	started := time.Now()
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	t.Logf("the second observation took %v", time.Since(started))
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
		if p.Scheduled.At == 0 || p.End.Open() || p.End.At < p.Scheduled.At || p.End.At > ledger.TimeOf(after.At.Add(time.Second)) {
			t.Errorf("%s was from %v to %v (%s)", p.Name, p.Scheduled.At.Time(), p.End.At.Time(), p.End.Source)
		}
	}
}

// TestAReplayTellsOfTheEndOfAPodThatNoLongerSaysWhatItHolds has the annotation that
// made a pod hold a part of a GPU taken off it before it is deleted.
func TestAReplayTellsOfTheEndOfAPodThatNoLongerSaysWhatItHolds(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "fraction", kubetest.Annotation("gpu-fraction", "0.5"), kubetest.BoundTo("nowhere")))
	unmarked := []byte(`{"metadata": {"annotations": null}}`)
	if _, err := server.Client().CoreV1().Pods(ns).Patch(t.Context(), pod.Name, types.MergePatchType, unmarked, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	now := int64(0)
	if err := server.Client().CoreV1().Pods(ns).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if ended, there := names(in(ns, after.Replay.Ended)), names(in(ns, after.Pods)); !after.Replay.Complete || !slices.Equal(ended, []string{"fraction"}) ||
		len(there) > 0 {
		t.Errorf("replay %+v: ended %v, there %v, want its end", after.Replay.Reason, ended, there)
	}
}

func TestNothingNewIsACompleteReplay(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	started := time.Now()
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if !after.Replay.Complete || after.Listed {
		t.Errorf("got %+v, listed %v", after.Replay.Reason, after.Listed)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestReplayOfAnIdleClusterIsCompleteByBookmark changes no pods: only the bookmark completes the replay,
// within seconds.
func TestReplayOfAnIdleClusterIsCompleteByBookmark(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t, "--nodes=1")
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	for range 3 {
		server.Namespace(t)
		started := time.Now()
		after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
		t.Logf("it took %v and %d watches", time.Since(started), c.Calls()["watch pods"])
		if !after.Replay.Complete || after.Listed || len(after.Pods)+len(after.Replay.Ended) > 0 || after.ResourceVersion == before.ResourceVersion {
			t.Errorf("replay %+v, listed %v, %d pods, from %s to %s", after.Replay, after.Listed, len(after.Pods), before.ResourceVersion,
				after.ResourceVersion)
		}
		before = after
	}
}

func TestAListMayBeAskedForBesideAReplay(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	kubetest.Create(t, server, kubetest.Pod(ns, "old", kubetest.GPUs(1), kubetest.BoundTo("nowhere")))
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion, List: true})
	if !after.Replay.Complete || !after.Listed || !slices.Equal(names(in(ns, after.Pods)), []string{"old"}) {
		t.Errorf("replay %+v, listed %v, pods %v", after.Replay, after.Listed, names(in(ns, after.Pods)))
	}
}

func TestALostHistoryIsAGapAndAListInstead(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	ns := server.Namespace(t)
	kubetest.Create(t, server, kubetest.Pod(ns, "there", kubetest.GPUs(1)))
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
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
		return errors.New("it still has earlier events")
	})
	brief := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "brief", kubetest.GPUs(1))))
	remove(t, server, brief)
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if after.Replay.Complete || !strings.Contains(after.Replay.Reason, "no longer has the history") {
		t.Errorf("got %+v", after.Replay)
	}
	if got := names(in(ns, after.Replay.Ended)); !slices.Equal(got, []string{"brief"}) {
		t.Errorf("the rest of the history has the ends of %v, want brief", got)
	}
	if got := names(in(ns, after.Pods)); !after.Listed || !slices.Equal(got, []string{"later", "there"}) {
		t.Errorf("listed %v: %v", after.Listed, got)
	}
	for stored, want := range map[string]string{"999999999": "restored", "yesterday": "not a number", "0": "not a number"} {
		got := observe(t, c, gpu.ObserveOptions{From: stored})
		if got.Replay.Complete || !strings.Contains(got.Replay.Reason, want) || !got.Listed {
			t.Errorf("from %s: %+v, listed %v", stored, got.Replay, got.Listed)
		}
	}
}
