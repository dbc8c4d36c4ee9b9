package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldselector "k8s.io/apimachinery/pkg/fields"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// endings are the reasons of Events that report a pod's end. beginnings are those that report that it
// continued: a container that its probe restarts is killed, too. They come from the kubelet
// (pkg/kubelet/events/event.go), the scheduler, the taint manager and the node lifecycle controller.
var (
	endings = map[string]bool{
		"Killing": true, "Preempting": true, "Preempted": true, "Evicted": true, "TaintManagerEviction": true,
		"ExceededGracePeriod": true, "NodeShutdown": true, "Shutdown": true, "DeletingNode": true,
	}
	beginnings = map[string]bool{"Scheduled": true, "Pulled": true, "Created": true, "Started": true}
)

// eachAlone is the largest number of pods of a namespace that are read one by one.
const eachAlone = 5

// PodEvents looks up, in the cluster's Events, when pods ended: by uid. A pod of
// which they tell nothing is absent. Events are kept for an hour, and are
// best-effort: they refine an estimate, and nothing rests on them.
func (c *podReader) PodEvents(ctx context.Context, pods []budget.PodRef) (map[string]time.Time, error) {
	byNamespace := map[string][]budget.PodRef{}
	for _, p := range pods {
		byNamespace[p.Namespace] = append(byNamespace[p.Namespace], p)
	}
	out := map[string]time.Time{}
	for namespace, refs := range byNamespace {
		selectors := make([]fieldselector.Selector, 0, eachAlone)
		if len(refs) > eachAlone {
			selectors = append(selectors, fieldselector.OneTermEqualSelector("involvedObject.kind", "Pod"))
		} else {
			for _, p := range refs {
				selectors = append(selectors, fieldselector.OneTermEqualSelector("involvedObject.uid", p.UID))
			}
		}
		found := endedAt{wanted: map[string]bool{}, ended: map[string]time.Time{}, began: map[string]time.Time{}}
		for _, p := range refs {
			found.wanted[p.UID] = true
		}
		for _, s := range selectors {
			if err := c.events(ctx, namespace, s, found.add); err != nil {
				return nil, err
			}
		}
		for uid, at := range found.ended {
			if !found.began[uid].After(at) {
				out[uid] = at
			}
		}
	}
	return out, nil
}

// events lists the Events of a namespace, page by page.
func (c *podReader) events(ctx context.Context, namespace string, s fieldselector.Selector, add func(*corev1.Event)) error {
	o := metav1.ListOptions{FieldSelector: s.String(), Limit: 500}
	for {
		list, err := c.kube.CoreV1().Events(namespace).List(ctx, o)
		if err != nil {
			return kubeclient.Wrap("list", "events in "+namespace, err)
		}
		for i := range list.Items {
			add(&list.Items[i])
		}
		if o.Continue = list.Continue; o.Continue == "" {
			return nil
		}
	}
}

// endedAt gathers the last end and the last beginning of pods.
type endedAt struct {
	wanted       map[string]bool
	ended, began map[string]time.Time
}

func (e endedAt) add(event *corev1.Event) {
	uid := string(event.InvolvedObject.UID)
	if !e.wanted[uid] {
		return
	}
	into := e.ended
	switch {
	case beginnings[event.Reason]:
		into = e.began
	case !endings[event.Reason]:
		return
	}
	if at := lastSeen(event); at.After(into[uid]) {
		into[uid] = at
	}
}

// lastSeen is when an Event last happened, in whole seconds.
func lastSeen(e *corev1.Event) time.Time {
	at := e.EventTime.Time
	if e.LastTimestamp.After(at) {
		at = e.LastTimestamp.Time
	}
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	return at.Truncate(time.Second)
}
