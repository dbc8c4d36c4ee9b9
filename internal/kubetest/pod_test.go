package kubetest_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

func TestAPodRunsForAsLongAsItSays(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	pod := kubetest.Create(t, c, kubetest.Pod(namespace, "train", kubetest.GPUs(1), kubetest.RunFor(3*time.Second), kubetest.ExitCode(2),
		kubetest.InitContainer("fetch", corev1.ResourceCPU, "100m", 2*time.Second),
		kubetest.Sidecar("logs", corev1.ResourceCPU, "100m")))
	pod = c.WaitFinished(t, pod)

	main := pod.Status.ContainerStatuses[0].State.Terminated
	if main == nil {
		t.Fatalf("the pod is %s and its container %v", pod.Status.Phase, pod.Status.ContainerStatuses[0].State)
	}
	if ran := main.FinishedAt.Sub(main.StartedAt.Time); ran < 3*time.Second || ran > 4*time.Second {
		t.Errorf("it ran for %s, want 3s", ran)
	}
	if pod.Status.Phase != corev1.PodFailed || main.ExitCode != 2 {
		t.Errorf("phase %s, exit code %d, want Failed and 2", pod.Status.Phase, main.ExitCode)
	}
	fetch, sidecar := pod.Status.InitContainerStatuses[0].State.Terminated, pod.Status.InitContainerStatuses[1].State.Terminated
	if sidecar == nil || fetch == nil {
		t.Fatalf("init containers: %+v", pod.Status.InitContainerStatuses)
	}
	if ran := fetch.FinishedAt.Sub(fetch.StartedAt.Time); ran < 2*time.Second {
		t.Errorf("the init container ran for %s, want 2s", ran)
	}
	if !sidecar.FinishedAt.Equal(&main.FinishedAt) || fetch.FinishedAt.After(main.StartedAt.Time) {
		t.Errorf("sidecar until %s, init until %s; the container ran %s to %s", sidecar.FinishedAt, fetch.FinishedAt, main.StartedAt, main.FinishedAt)
	}
}

func TestAContainerRestarts(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	pod := kubetest.Create(t, c, kubetest.Pod(c.Namespace(t), "train", kubetest.GPUs(1), kubetest.Restarts(3, time.Second)))
	pod = c.WaitForPod(t, pod, "restarted three times", func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].RestartCount == 3
	})
	status := pod.Status.ContainerStatuses[0]
	if status.State.Running == nil || status.LastTerminationState.Terminated == nil {
		t.Fatalf("after three restarts: %+v", status)
	}
	if pod.Status.StartTime.Add(3 * time.Second).After(status.State.Running.StartedAt.Time) {
		t.Errorf("the last run started %s, less than three runs after %s", status.State.Running.StartedAt, pod.Status.StartTime)
	}
}

func TestADeletedPodWritesItsEndAndIsGone(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	pod := c.WaitRunning(t, kubetest.Create(t, c, kubetest.Pod(namespace, "train", kubetest.GPUs(1), kubetest.StopsAfter(2*time.Second))))
	pods := c.Client().CoreV1().Pods(namespace)
	events, err := pods.Watch(t.Context(), metav1.ListOptions{ResourceVersion: pod.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	before := time.Now()
	if err := pods.Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range events.ResultChan() {
		if event.Type != watch.Deleted {
			continue
		}
		last := event.Object.(*corev1.Pod)
		ended := last.Status.ContainerStatuses[0].State.Terminated
		if ended == nil {
			t.Fatalf("the pod's last state: %+v", last.Status.ContainerStatuses[0].State)
		}
		if took := ended.FinishedAt.Sub(before); took < 0 || took > 15*time.Second {
			t.Errorf("its container finished %s after its deletion, want about 2s", took)
		}
		return
	}
	t.Fatal("the watch ended before the pod did")
}

func TestTheKubeletEvictsWithoutTimes(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	pod := kubetest.Create(t, c, kubetest.Pod(c.Namespace(t), "train", kubetest.GPUs(1), kubetest.EvictedAfter(time.Second)))
	pod = c.WaitFinished(t, pod)
	ended := pod.Status.ContainerStatuses[0].State.Terminated
	if pod.Status.Reason != "Evicted" || ended == nil || !ended.StartedAt.IsZero() || !ended.FinishedAt.IsZero() {
		t.Errorf("reason %q, container %+v, want an eviction without times", pod.Status.Reason, ended)
	}
}

// A tenant can name a node directly. The kubelet rejects a pod that does not fit, and drops
// extended resources that the node does not list. A pod of a node that does not exist stays
// pending.
func TestTheKubeletTakesOnWhatTheNodeHasRoomFor(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	node := kubetest.Create(t, c, kubetest.Node("room-"+namespace, 4))
	first := c.WaitRunning(t, kubetest.Create(t, c, kubetest.Pod(namespace, "first", kubetest.GPUs(3), kubetest.BoundTo(node.Name))))
	nowhere := kubetest.Create(t, c, kubetest.Pod(namespace, "nowhere", kubetest.GPUs(9999), kubetest.BoundTo("no-such-node-"+namespace)))

	second := c.WaitFinished(t, kubetest.Create(t, c, kubetest.Pod(namespace, "second", kubetest.GPUs(2), kubetest.BoundTo(node.Name))))
	want := "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 2, used: 3, capacity: 4"
	if second.Status.Phase != corev1.PodFailed || second.Status.Reason != "OutOfnvidia.com/gpu" || second.Status.Message != want {
		t.Errorf("phase %s, reason %q, message %q", second.Status.Phase, second.Status.Reason, second.Status.Message)
	}
	if second.Status.StartTime == nil || len(second.Status.ContainerStatuses) != 0 {
		t.Errorf("rejected with %+v", second.Status)
	}
	c.WaitRunning(t, kubetest.Create(t, c, kubetest.Pod(namespace, "other-kind", kubetest.Resource("amd.com/gpu", "9999"), kubetest.BoundTo(node.Name))))

	if err := c.Client().CoreV1().Pods(namespace).Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.WaitGone(t, first)
	c.WaitRunning(t, kubetest.Create(t, c, kubetest.Pod(namespace, "third", kubetest.GPUs(4), kubetest.BoundTo(node.Name))))

	ghost, err := c.Client().CoreV1().Pods(namespace).Get(t.Context(), nowhere.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ghost.Status.Phase != corev1.PodPending || ghost.Status.StartTime != nil {
		t.Errorf("the pod of a node that there isn't: %+v", ghost.Status)
	}
}

// A node that is gone has no kubelet: its pods stay as they were, until the
// pod garbage collector takes them.
func TestPodsOfARemovedNodeAreLeftToTheGarbageCollector(t *testing.T) {
	t.Parallel()
	// It usually takes 40 to 80 seconds.
	c := kubetest.StartOwn(t, "--nodes=0", "--pod-gc-every=1s", "--pod-gc-quarantine=6s")
	namespace := c.Namespace(t)
	node := kubetest.Create(t, c, kubetest.Node("gone-"+namespace, 1))
	ghost := kubetest.Create(t, c, kubetest.Pod(namespace, "ghost", kubetest.GPUs(9999), kubetest.BoundTo("no-such-node")))
	pod := c.WaitRunning(t, kubetest.Create(t, c, kubetest.Pod(namespace, "train", kubetest.GPUs(1), kubetest.OnNode(node.Name),
		kubetest.RunFor(4*time.Second))))
	defer c.WaitGone(t, ghost) // it never had a node
	if err := c.Client().CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	last := pod
	events, err := c.Client().CoreV1().Pods(namespace).Watch(t.Context(),
		metav1.ListOptions{ResourceVersion: pod.ResourceVersion, FieldSelector: "metadata.name=" + pod.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		last = event.Object.(*corev1.Pod)
		if event.Type == watch.Deleted {
			break
		}
	}
	if last.Status.Phase != corev1.PodFailed || last.Status.ContainerStatuses[0].State.Terminated != nil {
		t.Fatalf("the pod's last state: %+v", last.Status)
	}
	for _, condition := range last.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Reason == "DeletionByPodGC" {
			return
		}
	}
	t.Errorf("no DisruptionTarget by the garbage collector: %+v", last.Status.Conditions)
}

func TestARestartForgetsOldEventsAndKeepsObjects(t *testing.T) {
	t.Parallel()
	c := kubetest.StartOwn(t, "--nodes=1")
	namespace := c.Namespace(t)
	pod := c.WaitRunning(t, kubetest.Create(t, c, kubetest.Pod(namespace, "train", kubetest.GPUs(1))))
	list, err := c.Client().CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gone := kubetest.Create(t, c, kubetest.Pod(namespace, "gone", kubetest.RunFor(0)))
	c.WaitFinished(t, gone)
	c.Restart(t)

	if now := c.WaitRunning(t, pod); now.UID != pod.UID || now.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("the pod did not outlive the restart: %+v", now.Status)
	}
	events, err := c.Client().CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err == nil {
		event := <-events.ResultChan()
		events.Stop()
		err = apierrors.FromObject(event.Object)
	}
	if !apierrors.IsGone(err) && !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch from before the restart: %v, want 410 Gone", err)
	}
}
