package kubelet_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/tools/localkube/kubelet"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	node = kubelet.Nodes(1, 8)[0]
)

// world keeps one pod, and does what the kubelet asks for when it asks for it.
type world struct {
	t       *testing.T
	pod     *corev1.Pod
	now     time.Time
	next    time.Time
	removed bool
	writes  int
}

func newWorld(t *testing.T, policy corev1.RestartPolicy, annotations map[string]string, init ...corev1.Container) *world {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train", UID: "9c1a", Annotations: annotations},
		Spec: corev1.PodSpec{
			NodeName: node.Name, RestartPolicy: policy, InitContainers: init,
			Containers: []corev1.Container{{Name: "main", Image: "train:1"}, {Name: "second", Image: "train:1"}},
		},
	}
	w := &world{t: t, pod: pod, now: noon.Add(300 * time.Millisecond)}
	w.look()
	return w
}

// look lets the kubelet act until it has nothing to do now.
func (w *world) look() {
	w.t.Helper()
	for range 20 {
		next := kubelet.Step(w.pod, node, nil, w.now, time.Time{})
		if next.Status != nil {
			w.pod.Status = *next.Status
			w.writes++
		}
		w.next, w.removed = next.At, next.Remove
		if next.Status == nil || next.Remove {
			return
		}
	}
	w.t.Fatal("the kubelet never rests")
}

// until passes the time, looking at the pod when the kubelet asked to.
func (w *world) until(at time.Duration) *world {
	w.t.Helper()
	end := noon.Add(at)
	for !w.removed && !w.next.IsZero() && !w.next.After(end) {
		w.now = w.next
		w.look()
	}
	w.now = end
	return w
}

// delete asks for the pod's deletion, with 30 s of grace.
func (w *world) delete() *world {
	w.t.Helper()
	grace := int64(30)
	at := metav1.NewTime(w.now.Add(30 * time.Second))
	w.pod.DeletionTimestamp, w.pod.DeletionGracePeriodSeconds = &at, &grace
	w.look()
	return w
}

func (w *world) main() corev1.ContainerStatus { return w.pod.Status.ContainerStatuses[0] }

func (w *world) ready() bool {
	for _, condition := range w.pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestAPodWithoutAnnotationsRunsUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, corev1.RestartPolicyAlways, nil).until(time.Hour)
	if w.pod.Status.Phase != corev1.PodRunning || !w.ready() || w.writes != 1 {
		t.Fatalf("phase %s, ready %t after %d writes", w.pod.Status.Phase, w.ready(), w.writes)
	}
	w.delete()
	if w.removed {
		t.Error("it was removed at once, want a second later")
	}
	w.until(time.Hour + time.Second)
	ended := w.main().State.Terminated
	if !w.removed || ended == nil || !ended.FinishedAt.Equal(&metav1.Time{Time: noon.Add(time.Hour + time.Second)}) || ended.ExitCode != 143 {
		t.Errorf("removed %t, ended %+v", w.removed, ended)
	}
	if w.pod.Status.Phase != corev1.PodFailed || w.ready() {
		t.Errorf("phase %s, ready %t", w.pod.Status.Phase, w.ready())
	}
}

// A run lasts as long as its annotation says, though the API stores its start in whole seconds.
func TestARunIsNotShortenedByItsRecordedStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, corev1.RestartPolicyNever, map[string]string{kubelet.StartAfter: "10700ms", kubelet.RunFor: "30s"}).until(40 * time.Second)
	if started := w.main().State.Running; started == nil || !started.StartedAt.Equal(&metav1.Time{Time: noon.Add(10 * time.Second)}) {
		t.Fatalf("after 40s it is %+v, want it running since 10s", w.main().State)
	}
	w.until(40650 * time.Millisecond)
	if w.main().State.Running == nil {
		t.Error("it ended early")
	}
	w.until(40700 * time.Millisecond)
	if ended := w.main().State.Terminated; ended == nil || !ended.FinishedAt.Equal(&metav1.Time{Time: noon.Add(40 * time.Second)}) {
		t.Errorf("after 30s of running it is %+v", w.main().State)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	const never, onFailure, always = corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways
	for name, test := range map[string]struct {
		policy      corev1.RestartPolicy
		annotations map[string]string
		phase       corev1.PodPhase
		restarts    int32
		ended       time.Duration // of the last run, 0 while it runs
	}{
		"succeeds":                      {never, map[string]string{kubelet.RunFor: "30s"}, corev1.PodSucceeded, 0, 30 * time.Second},
		"fails":                         {never, map[string]string{kubelet.RunFor: "30s", kubelet.ExitCode: "3"}, corev1.PodFailed, 0, 30 * time.Second},
		"starts late":                   {never, map[string]string{kubelet.StartAfter: "10s", kubelet.RunFor: "30s"}, corev1.PodSucceeded, 0, 40 * time.Second},
		"has not started":               {never, map[string]string{kubelet.StartAfter: "2m"}, corev1.PodPending, 0, 0},
		"restarted until it succeeds":   {onFailure, map[string]string{kubelet.RunFor: "10s", kubelet.Restarts: "3"}, corev1.PodSucceeded, 3, 40 * time.Second},
		"succeeds at once":              {onFailure, map[string]string{kubelet.RunFor: "10s"}, corev1.PodSucceeded, 0, 10 * time.Second},
		"fails for ever":                {onFailure, map[string]string{kubelet.RunFor: "10s", kubelet.ExitCode: "1"}, corev1.PodRunning, 6, 0},
		"restarted, then runs on":       {always, map[string]string{kubelet.RunFor: "10s", kubelet.Restarts: "3"}, corev1.PodRunning, 3, 0},
		"restarted each time":           {always, map[string]string{kubelet.RunFor: "10s"}, corev1.PodRunning, 6, 0},
		"is down between its runs":      {always, map[string]string{kubelet.RunFor: "10s", kubelet.RestartAfter: "20s"}, corev1.PodRunning, 2, 0},
		"ends at once, again and again": {always, map[string]string{kubelet.RunFor: "0s"}, corev1.PodRunning, 65, 0},
		"evicted by the kubelet":        {always, map[string]string{kubelet.EvictedAfter: "10s"}, corev1.PodFailed, 0, -1},
		"no duration":                   {never, map[string]string{kubelet.RunFor: "30"}, corev1.PodFailed, 0, 0},
		"restarts under Never":          {never, map[string]string{kubelet.Restarts: "2"}, corev1.PodFailed, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.policy, test.annotations).until(65 * time.Second)
			if w.pod.Status.Phase != test.phase || w.main().RestartCount != test.restarts {
				t.Errorf("phase %s after %d restarts, want %s and %d: %s", w.pod.Status.Phase, w.main().RestartCount, test.phase, test.restarts,
					w.pod.Status.Message)
			}
			ended := w.main().State.Terminated
			switch {
			case test.ended > 0:
				if ended == nil || ended.FinishedAt.Sub(noon) != test.ended {
					t.Errorf("it ended %+v, want after %s", ended, test.ended)
				}
			case test.ended < 0:
				if ended == nil || !ended.FinishedAt.IsZero() {
					t.Errorf("it ended %+v, want no time", ended)
				}
			case ended != nil:
				t.Errorf("it ended %+v", ended)
			}
		})
	}
}

func TestInitContainersRunInTurn(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	w := newWorld(t, corev1.RestartPolicyNever, map[string]string{kubelet.InitFor: "5s", kubelet.RunFor: "10s"},
		corev1.Container{Name: "first"}, corev1.Container{Name: "sidecar", RestartPolicy: &always}, corev1.Container{Name: "third"})
	init := func(i int) corev1.ContainerState { return w.pod.Status.InitContainerStatuses[i].State }
	if init(0).Running == nil || init(1).Waiting == nil || w.main().State.Waiting == nil || w.ready() {
		t.Errorf("at first: %+v", w.pod.Status.InitContainerStatuses)
	}
	w.until(7 * time.Second)
	if init(0).Terminated == nil || init(1).Running == nil || init(2).Running == nil || w.pod.Status.Phase != corev1.PodPending {
		t.Errorf("after the first: %+v", w.pod.Status.InitContainerStatuses)
	}
	w.until(12 * time.Second)
	if init(2).Terminated == nil || w.main().State.Running == nil || !w.ready() {
		t.Errorf("after the third: %+v, %+v", w.pod.Status.InitContainerStatuses, w.main())
	}
	w.until(30 * time.Second)
	if w.pod.Status.Phase != corev1.PodSucceeded || init(1).Terminated == nil || init(1).Terminated.FinishedAt.Sub(noon) != 20*time.Second {
		t.Errorf("at the end %s: %+v", w.pod.Status.Phase, init(1))
	}
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	t.Run("of a pod that never started", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, corev1.RestartPolicyAlways, map[string]string{kubelet.StartAfter: "1m"}).delete().until(5 * time.Second)
		if !w.removed || w.main().State.Terminated != nil {
			t.Errorf("removed %t, %+v", w.removed, w.main().State)
		}
	})
	t.Run("of a finished pod", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, corev1.RestartPolicyNever, map[string]string{kubelet.RunFor: "1s"}).until(5 * time.Second).delete()
		if !w.removed {
			t.Error("it is still there")
		}
	})
	t.Run("of a pod that hangs", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, corev1.RestartPolicyAlways, map[string]string{kubelet.StopsAfter: "5m"}).delete().until(4 * time.Minute)
		if w.removed || w.main().State.Running == nil {
			t.Errorf("removed %t, %+v", w.removed, w.main().State)
		}
		if !w.until(5*time.Minute + time.Second).removed {
			t.Error("it is still there")
		}
	})
	t.Run("of a pod that ignores SIGTERM", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, corev1.RestartPolicyAlways, map[string]string{kubelet.IgnoresSIGTERM: "true"}).delete().until(29 * time.Second)
		if w.removed || w.main().State.Running == nil {
			t.Errorf("within its grace period: removed %t, %+v", w.removed, w.main().State)
		}
		if !w.until(31 * time.Second).removed {
			t.Error("its grace period is over, and it is still there")
		}
	})
	t.Run("of a pod whose grace period is shortened", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, corev1.RestartPolicyAlways, map[string]string{kubelet.IgnoresSIGTERM: "true"}).delete().until(time.Second)
		sooner := metav1.NewTime(w.now.Add(3 * time.Second))
		w.pod.DeletionTimestamp = &sooner
		w.look()
		if !w.until(5 * time.Second).removed {
			t.Error("its new grace period is over, and it is still there")
		}
	})
	t.Run("of a pod that would have been restarted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, corev1.RestartPolicyAlways, map[string]string{kubelet.RunFor: "10s", kubelet.StopsAfter: "1m"}).delete().until(11 * time.Second)
		if !w.removed || w.main().RestartCount != 0 {
			t.Errorf("removed %t after %d restarts", w.removed, w.main().RestartCount)
		}
	})
}

func TestConditionsOfOthersStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, corev1.RestartPolicyAlways, nil)
	disrupted := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}
	w.pod.Status.Conditions = append(w.pod.Status.Conditions, disrupted)
	w.delete().until(5 * time.Second)
	for _, condition := range w.pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Reason == disrupted.Reason {
			return
		}
	}
	t.Errorf("conditions: %+v", w.pod.Status.Conditions)
}
