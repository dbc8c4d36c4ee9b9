package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// history is what a replay told.
type history struct {
	table  *gpu.Table
	filter interest
	// pods are as they last were, and the order in which they were first told of.
	pods  map[types.UID]*corev1.Pod
	order []types.UID
	// labels are those that pods were bound with; they decide whose they are.
	// Binding adds some, and before it whoever may edit a pod may label it.
	labels      map[types.UID]map[string]string
	deleted     map[types.UID]bool
	namespaces  map[string]time.Time // when those that are there were created
	wantsClaims bool
	claims      map[types.NamespacedName]*resourcev1.ResourceClaim // as they last were while allocated
	claimless   error                                              // why claims could not be watched
}

func newHistory(table *gpu.Table) *history {
	return &history{
		table: table, filter: interestOf(table), pods: map[types.UID]*corev1.Pod{}, labels: map[types.UID]map[string]string{},
		deleted: map[types.UID]bool{}, namespaces: map[string]time.Time{}, claims: map[types.NamespacedName]*resourcev1.ResourceClaim{},
	}
}

func (h *history) pod(c kubeclient.Change) error {
	pod := new(corev1.Pod)
	may, err := h.filter.mayHoldGPUs(c.Object)
	if may && err == nil {
		err = pod.Unmarshal(c.Object)
	}
	if err != nil {
		return err
	}
	if !may || !h.table.MayHold(pod) {
		return h.unmarked(c)
	}
	slim(pod)
	if _, known := h.pods[pod.UID]; !known {
		h.order = append(h.order, pod.UID)
	}
	if _, known := h.labels[pod.UID]; !known && pod.Spec.NodeName != "" {
		h.labels[pod.UID] = pod.Labels
	}
	h.pods[pod.UID] = pod
	h.deleted[pod.UID] = c.Kind == watch.Deleted
	h.wantsClaims = h.wantsClaims || byClaim(pod)
	return nil
}

// unmarked takes note of the end of a pod that held GPUs before, by an annotation
// that was taken off it since.
func (h *history) unmarked(c kubeclient.Change) error {
	if c.Kind != watch.Deleted || len(h.pods) == 0 {
		return nil
	}
	uid, err := kubeclient.ObjectUID(c.Object)
	if _, known := h.pods[uid]; known {
		h.deleted[uid] = true
	}
	return err
}

// slim drops most of what a pod does not need to be seen: a replay may tell of
// many pods, and they are kept until its end.
func slim(pod *corev1.Pod) {
	for i := range pod.ManagedFields {
		pod.ManagedFields[i].FieldsV1 = nil // who wrote what part, and when, stays
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i, c := range containers {
			containers[i] = corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
		}
	}
	pod.Spec.EphemeralContainers, pod.Spec.Volumes, pod.Spec.Affinity, pod.Spec.Tolerations = nil, nil, nil, nil
}

func (h *history) claim(c kubeclient.Change) error {
	claim := new(resourcev1.ResourceClaim)
	if err := claim.Unmarshal(c.Object); err != nil {
		return err
	}
	if claim.Status.Allocation != nil {
		claim.ManagedFields = nil
		h.claims[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}] = claim
	}
	return nil
}

// changed are the pods that changed and are there.
func (h *history) changed(l *look) ([]gpu.Sighting, error) { return h.see(l, false) }

// ended are the pods that were deleted, as they last were.
func (h *history) ended(l *look) ([]gpu.Sighting, error) {
	out, err := h.see(l, true)
	for i := range out {
		s := &out[i]
		// A pod that was removed before its kubelet said how it ended held its
		// devices until its deletion was due, at the latest.
		if s.End.At.IsZero() && !s.Live.Deletion.IsZero() && !s.Scheduled.At.IsZero() {
			s.End = gpu.End{At: latest(s.Scheduled.At, earliest(s.Live.Deletion, l.at)), Source: gpu.DeletionTimestamp}
		}
	}
	return out, err
}

func (h *history) see(l *look, deleted bool) ([]gpu.Sighting, error) {
	var out []gpu.Sighting
	for _, uid := range h.order {
		if h.deleted[uid] != deleted {
			continue
		}
		s, holds, err := l.see(h.pods[uid])
		if err != nil {
			return nil, err
		}
		if holds {
			out = append(out, s)
		}
	}
	h.label(out)
	return out, nil
}

// label gives pods the labels that they were bound with, as far as that was told.
func (h *history) label(pods []gpu.Sighting) {
	for i := range pods {
		if bound, ok := h.labels[types.UID(pods[i].UID)]; ok {
			pods[i].Labels = bound
		}
	}
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
