package accuracy

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// observer watches the pods of one namespace without a break and notes, by its
// own clock, when each began and ceased to hold its GPUs. It reads no time out
// of any object: it is what the program's answers are measured by.
type observer struct {
	mu   sync.Mutex
	pods map[string]*truth
}

type truth struct {
	name       string
	start, end time.Time
}

func observe(t *testing.T, c *kubetest.Cluster, namespace string, running bool) *observer {
	t.Helper()
	o := &observer{pods: map[string]*truth{}}
	list, err := c.Client().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) > 0 {
		t.Fatalf("%d pods before the first: %v", len(list.Items), err)
	}
	ctx, stop := context.WithCancel(t.Context())
	events, err := c.Client().CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			o.note(event, running)
		}
	}()
	t.Cleanup(func() { stop(); events.Stop(); <-done })
	return o
}

func (o *observer) note(event watch.Event, running bool) {
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		return
	}
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.pods[string(pod.UID)]
	if seen == nil {
		seen = &truth{name: pod.Name}
		o.pods[string(pod.UID)] = seen
	}
	if begun := pod.Spec.NodeName != "" && (!running || started(pod)); begun && seen.start.IsZero() {
		seen.start = now
	}
	over := event.Type == watch.Deleted || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if over && seen.end.IsZero() {
		seen.end = now
	}
}

func started(pod *corev1.Pod) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Running != nil || s.State.Terminated != nil {
			return true
		}
	}
	return false
}

// holding is how long a pod held its GPUs until now.
func (p *truth) holding(now time.Time) time.Duration {
	if p.start.IsZero() {
		return 0
	}
	if !p.end.IsZero() {
		now = p.end
	}
	return max(0, now.Sub(p.start))
}

// all copies the observed pods.
func (o *observer) all() map[string]truth {
	o.mu.Lock()
	defer o.mu.Unlock()
	copied := make(map[string]truth, len(o.pods))
	for uid, p := range o.pods {
		copied[uid] = *p
	}
	return copied
}

func (o *observer) ended() int {
	n := 0
	for _, p := range o.all() {
		if !p.end.IsZero() {
			n++
		}
	}
	return n
}
