package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// NodePods lists all pods on a node, without a cache, for a drain.
func (c *nodeClient) NodePods(ctx context.Context, name string) ([]node.Pod, error) {
	spared := map[string]bool{} // namespaces whose label protects their pods
	namespaces, err := c.readNamespaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range namespaces {
		spared[n.name] = protects(n.labels)
	}
	return c.podsOn(ctx, name, spared)
}

// podsOn lists the pods on a node. Those of a spared namespace are protected.
func (c *connection) podsOn(ctx context.Context, name string, spared map[string]bool) ([]node.Pod, error) {
	where := kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "pods", Fields: "spec.nodeName=" + name}
	return kubeclient.List(ctx, where, func(object []byte) (node.Pod, bool, error) {
		var p corev1.Pod
		if err := p.Unmarshal(object); err != nil {
			return node.Pod{}, false, err
		}
		return drainPod(&p, spared[p.Namespace]), true, nil
	})
}

// drainPod returns the fields of a pod that a drain needs.
func drainPod(p *corev1.Pod, spared bool) node.Pod {
	out := node.Pod{
		Namespace: p.Namespace, Name: p.Name, UID: string(p.UID),
		Ended:     p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
		Protected: spared || protects(p.Labels) || protects(p.Annotations),
	}
	_, out.Mirror = p.Annotations[corev1.MirrorPodAnnotationKey]
	if p.DeletionTimestamp != nil {
		out.Ending, out.EndsAt = true, p.DeletionTimestamp.Time
	}
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil {
		out.Grace = *g
	}
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil {
		out.Controller = owner.Kind
	}
	return out
}

func protects(marks map[string]string) bool {
	value, there := marks[budget.ProtectedKey]
	return budget.Protects(value, there)
}

// GPUPods counts bound pods with GPUs that have not ended, by the name of their node, without a cache.
func (c *nodeClient) GPUPods(ctx context.Context) (map[string]int, error) {
	pods, err := c.pods.live(ctx, nil, gpu.Rules{}, kubeclient.Collection{Fields: "spec.nodeName!="})
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, p := range pods {
		if p.Node.Name != "" {
			count[p.Node.Name]++
		}
	}
	return count, nil
}
