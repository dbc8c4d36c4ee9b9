package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// podReplay is the result of a replay of the watch of pods.
type podReplay struct {
	table  *gpu.Table
	filter interest
	// pods are their last states, and order is that of their first events.
	pods  map[types.UID]*corev1.Pod
	order []types.UID
	// labels are those at the binding of each pod; they decide which budget counts it. A binding adds some,
	// and before it everyone who may edit a pod may label it.
	labels  map[types.UID]map[string]string
	deleted map[types.UID]bool

	wantsClaims   bool
	claims        map[types.NamespacedName]*resourcev1.ResourceClaim // as they last were while allocated
	claimsMissing error                                              // why claims could not be watched
}

func newPodReplay(table *gpu.Table) *podReplay {
	return &podReplay{
		table: table, filter: interestOf(table), pods: map[types.UID]*corev1.Pod{}, labels: map[types.UID]map[string]string{},
		deleted: map[types.UID]bool{}, claims: map[types.NamespacedName]*resourcev1.ResourceClaim{},
	}
}

// replayPods replays the watch of pods, and of the claims by which they may have
// held devices.
func (c *podReader) replayPods(ctx context.Context, from, until string, r *podReplay) (gpu.Replay, error) {
	if from == "" {
		return gpu.Replay{Reason: "there was no run before this one"}, nil
	}
	reason, err := replay(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "pods"}, from, until, r.pod)
	if err != nil {
		return gpu.Replay{}, err
	}
	if r.wantsClaims {
		err = c.replayClaims(ctx, from, until, r)
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return gpu.Replay{}, err
	}
	r.claimsMissing = err
	return gpu.Replay{Complete: reason == "", Reason: reason}, nil
}

// replayClaims replays the watch of claims. If no claim changes, the server does not learn its position by
// itself. Its bookmark would take many seconds: a consistent list has it ask etcd.
func (c *podReader) replayClaims(ctx context.Context, from, until string, r *podReplay) error {
	if _, err := c.kube.ResourceV1().ResourceClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: 1}); err != nil && !apierrors.IsForbidden(err) {
		return kubeclient.Wrap("list", "resourceclaims in the whole cluster", err)
	}
	_, err := replay(ctx, kubeclient.Collection{Client: c.kube.ResourceV1().RESTClient(), Resource: "resourceclaims"}, from, until, r.claim)
	return err
}

// pod notes a change of a pod.
func (r *podReplay) pod(c kubeclient.Change) error {
	pod := new(corev1.Pod)
	may, err := r.filter.mayHoldGPUs(c.Object)
	if may && err == nil {
		err = pod.Unmarshal(c.Object)
	}
	if err != nil {
		return err
	}
	if !may || !r.table.MayHold(pod) {
		return r.unmarked(c)
	}
	slim(pod)
	if _, known := r.pods[pod.UID]; !known {
		r.order = append(r.order, pod.UID)
	}
	if _, known := r.labels[pod.UID]; !known && pod.Spec.NodeName != "" {
		r.labels[pod.UID] = pod.Labels
	}
	r.pods[pod.UID] = pod
	r.deleted[pod.UID] = c.Kind == watch.Deleted
	r.wantsClaims = r.wantsClaims || byClaim(pod)
	return nil
}

// unmarked notes the end of a pod that once held GPUs by an annotation, which was
// taken off it since.
func (r *podReplay) unmarked(c kubeclient.Change) error {
	if c.Kind != watch.Deleted || len(r.pods) == 0 {
		return nil
	}
	uid, err := kubeclient.ObjectUID(c.Object)
	if _, known := r.pods[uid]; known {
		r.deleted[uid] = true
	}
	return err
}

// slim drops most unused fields of a pod: a replay may contain many pods, and holds them until its end.
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

// claim notes a change of a resource claim.
func (r *podReplay) claim(c kubeclient.Change) error {
	claim := new(resourcev1.ResourceClaim)
	if err := claim.Unmarshal(c.Object); err != nil {
		return err
	}
	if claim.Status.Allocation != nil {
		claim.ManagedFields = nil
		r.claims[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}] = claim
	}
	return nil
}

// changed are the pods that changed and are there.
func (r *podReplay) changed(l *observation) ([]gpu.Pod, error) { return r.seen(l, false) }

// ended are the pods that were deleted, as they last were.
func (r *podReplay) ended(l *observation) ([]gpu.Pod, error) {
	out, err := r.seen(l, true)
	for i := range out {
		p := &out[i]
		// A pod that was removed before its kubelet said how it ended held its
		// devices until its deletion was due, at the latest.
		if p.End.Open() && p.Deletion != 0 && p.Scheduled.At != 0 {
			p.End = ledger.ExactEnd(max(p.Scheduled.At, min(p.Deletion, ledger.TimeOf(l.at))), ledger.DeletionTimestamp)
		}
	}
	return out, err
}

// seen are the pods that were deleted, or those that were not.
func (r *podReplay) seen(l *observation, deleted bool) ([]gpu.Pod, error) {
	var out []gpu.Pod
	for _, uid := range r.order {
		if r.deleted[uid] != deleted {
			continue
		}
		p, holds, err := l.pod(r.pods[uid])
		if err != nil {
			return nil, err
		}
		if holds {
			out = append(out, p)
		}
	}
	r.label(out)
	return out, nil
}

// label sets the labels of pods to those at their binding, if the replay has them.
func (r *podReplay) label(pods []gpu.Pod) {
	for i := range pods {
		if bound, ok := r.labels[types.UID(pods[i].UID)]; ok {
			pods[i].Labels = bound
		}
	}
}
