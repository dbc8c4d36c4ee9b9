package endtoend

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// truth is what pods held, by a watch of this test's own: it sees each event,
// as runs need not.
type truth struct {
	mu   sync.Mutex
	pods map[types.UID]*held
}

type held struct {
	bound map[string]string // its labels at the first event in which it had a node
	last  *corev1.Pod
	gone  time.Time // when it was deleted; zero while it is there
}

// watchPods follows the pods of some namespaces, which have none yet, until the
// test ends.
func watchPods(t *testing.T, server *kubetest.Cluster, namespaces ...string) *truth {
	t.Helper()
	w := &truth{pods: map[types.UID]*held{}}
	for _, namespace := range namespaces {
		pods := server.Client().CoreV1().Pods(namespace)
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		events, err := pods.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(events.Stop)
		go func() {
			for event := range events.ResultChan() {
				if pod, ok := event.Object.(*corev1.Pod); ok {
					w.see(pod, event.Type == watch.Deleted)
				}
			}
		}()
	}
	return w
}

func (w *truth) see(pod *corev1.Pod, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.pods[pod.UID]
	if h == nil {
		h = &held{}
		w.pods[pod.UID] = h
	}
	if h.bound == nil && pod.Spec.NodeName != "" {
		h.bound = maps.Clone(pod.Labels)
		if h.bound == nil {
			h.bound = map[string]string{}
		}
	}
	h.last = pod
	if gone {
		h.gone = time.Now()
	}
}

// milliGPUSeconds is what some pods held of NVIDIA's GPUs until a moment.
func (w *truth) milliGPUSeconds(until time.Time, of func(*held) bool) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sum int64
	for _, h := range w.pods {
		if of(h) {
			start, end := h.interval(until)
			sum += h.gpus() * max(0, end.Sub(start).Milliseconds())
		}
	}
	return sum
}

// apart lists the pods of which what is charged, in GPU-hours, is not what they
// held, give or take two seconds of a GPU.
func (w *truth) apart(now time.Time, charged map[string]string, of func(*held) bool) (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.pods {
		var want int64
		if of(h) {
			start, end := h.interval(now)
			want = h.gpus() * max(0, end.Sub(start).Milliseconds())
		}
		hours, _ := strconv.ParseFloat(charged[h.last.Name], 64)
		if got := int64(hours * 3_600_000); max(got-want, want-got) > 2000+2000*h.gpus() {
			list = append(list, fmt.Sprintf("%s %d instead of %d (%s %s, until %s)", h.last.Name, got, want, h.last.Status.Phase, h.last.Status.Reason, h.gone))
		}
	}
	return list
}

// gpus are those that a kubelet gave the pod: none before it took the pod on, and
// none where it rejected it. The nodes of these tests have no others.
func (h *held) gpus() int64 {
	s := h.last.Status
	if s.StartTime == nil || s.Phase == corev1.PodFailed && strings.HasPrefix(s.Reason, "OutOf") {
		return 0
	}
	var n int64
	for _, container := range h.last.Spec.Containers {
		n += container.Resources.Requests.Name("nvidia.com/gpu", resource.DecimalSI).Value()
	}
	return n
}

func (h *held) interval(now time.Time) (start, end time.Time) {
	if h.last.Status.StartTime == nil {
		return now, now
	}
	start, end = h.last.Status.StartTime.Time, now
	for _, c := range h.last.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue && c.LastTransitionTime.Before(h.last.Status.StartTime) {
			start = c.LastTransitionTime.Time
		}
	}
	over := h.last.Status.Phase == corev1.PodSucceeded || h.last.Status.Phase == corev1.PodFailed
	if !over && h.gone.IsZero() {
		return start, end
	}
	var finished time.Time
	for _, c := range h.last.Status.ContainerStatuses {
		if ended := c.State.Terminated; ended != nil && ended.FinishedAt.After(finished) {
			finished = ended.FinishedAt.Time
		}
	}
	if finished.IsZero() {
		finished = h.gone
	}
	if !finished.IsZero() && finished.Before(end) {
		end = finished
	}
	return start, end
}
