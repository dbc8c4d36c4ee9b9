package nodes

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// ambiguousNodes: if two nodes claim to be one instance, nothing is drained or terminated there.
// A node with the address of an instance and the ID of another cloud, or none, is not changed.
func ambiguousNodes(r *rig) {
	r.create(2, 2)
	own := r.own()
	strangers := []*corev1.Node{
		kubetest.Create(r.t, r.server, kubetest.Node("aws-"+own[0], 1, kubetest.ProviderID("aws:///ap-southeast-1a/i-0123456789abcdef0"),
			address(r.instance(own[0]).PrivateIP))),
		kubetest.Create(r.t, r.server, kubetest.Node("bare-"+own[0], 1, kubetest.ProviderID(""), address(r.instance(own[0]).PrivateIP))),
	}
	var twins []*corev1.Node
	for _, id := range own {
		twins = append(twins, kubetest.Create(r.t, r.server, kubetest.Node("twin-"+id, 1, kubetest.ProviderID("qcloud:///ap-singapore-2/"+id))))
	}
	r.update(1, 1, time.Second)
	r.says(r.reconcile(),
		"node aws-"+own[0]+" has one of the pool's addresses, and the provider ID \"aws:///ap-southeast-1a/i-0123456789abcdef0\", which is not a "+
			"Tencent Cloud instance",
		"is to be terminated (total 2 is above maximum 1), but its node is ambiguous: the nodes")
	r.audit.Wants(r.t, "while two nodes say that they are one instance")

	nodes := r.server.Client().CoreV1().Nodes()
	for _, twin := range twins {
		if err := nodes.Delete(r.t.Context(), twin.Name, metav1.DeleteOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
	r.reconcile()
	kept := r.own()
	ended := without(own, kept...)
	if len(ended) != 1 {
		r.t.Fatalf("%v ended, not one", ended)
	}
	r.audit.Wants(r.t, "once they don't", "cordon "+nodeOf(ended[0]), "TerminateInstances "+ended[0]+" ok")
	r.silent(ended[0])
	r.reconcile()
	r.pass(61 * time.Second)
	r.reconcile()
	r.audit.Wants(r.t, "afterwards", "delete "+nodeOf(ended[0]))
	for _, was := range strangers {
		now, err := nodes.Get(context.WithoutCancel(r.t.Context()), was.Name, metav1.GetOptions{})
		if err != nil || now.UID != was.UID || now.Spec.Unschedulable || len(now.Annotations) > 0 {
			r.t.Errorf("the node %s is not left alone: %v, %+v", was.Name, err, now)
		}
	}
	r.left(kept...)
}

func address(ip string) kubetest.NodeOption {
	return func(node *corev1.Node) {
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
	}
}
