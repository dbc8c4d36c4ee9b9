package nodes

import (
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// others are foreign objects: an instance with the pool's name and another UID, and one without
// a pool. Both are nodes, one of them cordoned, with a pod each.
type others struct {
	instances []cvmsim.Instance
	nodes     []*corev1.Node
	pods      []*corev1.Pod
}

func (r *rig) newOthers() others {
	r.t.Helper()
	ids := append(
		cvmsimtest.Seed(r.t, r.sim, cvmsim.SeedRequest{Tags: map[string]string{
			"gpupool/pool": "other", "gpupool/uid": "00000000-0000-4000-8000-000000000000",
		}}),
		cvmsimtest.Seed(r.t, r.sim, cvmsim.SeedRequest{})...)
	o := others{instances: r.sim.Server.Instances()}
	for n, id := range ids {
		node := kubetest.Create(r.t, r.server, kubetest.Node("other-"+id, 2, kubetest.ProviderID("qcloud:///800002/"+id), func(node *corev1.Node) {
			node.Spec.Unschedulable = n == 0
		}))
		o.nodes = append(o.nodes, node)
		o.pods = append(o.pods, r.server.WaitRunning(r.t,
			kubetest.Create(r.t, r.server, kubetest.Pod(r.server.Namespace(r.t), "theirs", kubetest.BoundTo(node.Name)))))
	}
	return o
}

// untouched fails unless the foreign objects are unchanged.
func (r *rig) untouched() {
	r.t.Helper()
	now := map[string]cvmsim.Instance{}
	for _, i := range r.sim.Server.Instances() {
		now[i.InstanceID] = i
	}
	for _, was := range r.others.instances {
		if diff := cmp.Diff(was, now[was.InstanceID]); diff != "" {
			r.t.Errorf("somebody else's instance (-before +after):\n%s", diff)
		}
	}
	core := r.server.Client().CoreV1()
	for n, was := range r.others.nodes {
		node, err := core.Nodes().Get(r.t.Context(), was.Name, metav1.GetOptions{})
		if err != nil || node.UID != was.UID || !cmp.Equal(node.Spec, was.Spec) || !cmp.Equal(node.Annotations, was.Annotations) {
			r.t.Errorf("somebody else's node %s is not as it was: %v, %+v", was.Name, err, node)
		}
		pod, err := core.Pods(r.others.pods[n].Namespace).Get(r.t.Context(), "theirs", metav1.GetOptions{})
		if err != nil || pod.UID != r.others.pods[n].UID || pod.DeletionTimestamp != nil {
			r.t.Errorf("somebody else's pod on %s is not left alone: %v", was.Name, err)
		}
	}
}
