package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// namespace is what budgets need of a namespace.
type namespace struct {
	name    string
	created time.Time
	labels  map[string]string
}

// namespaceOf reads a namespace. One that is protected by an annotation has it as a
// label, where it has no such label.
func namespaceOf(object []byte) (namespace, error) {
	var n corev1.Namespace
	err := n.Unmarshal(object)
	if value, ok := n.Annotations[budget.ProtectedKey]; ok {
		n.Labels = merged(map[string]string{budget.ProtectedKey: value}, n.Labels)
	}
	return namespace{name: n.Name, created: n.CreationTimestamp.Time, labels: n.Labels}, err
}

func (c *Cluster) readNamespaces(ctx context.Context) ([]namespace, error) {
	return kubeclient.List(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "namespaces"}, func(object []byte) (namespace, bool, error) {
		n, err := namespaceOf(object)
		return n, true, err
	})
}

// readPriorityClasses lists the values of the priority classes, by name.
func (c *Cluster) readPriorityClasses(ctx context.Context) (map[string]int32, error) {
	found, err := kubeclient.List(ctx, kubeclient.Collection{Client: c.kube.SchedulingV1().RESTClient(), Resource: "priorityclasses"},
		func(object []byte) (schedulingv1.PriorityClass, bool, error) {
			var p schedulingv1.PriorityClass
			err := p.Unmarshal(object)
			return schedulingv1.PriorityClass{ObjectMeta: p.ObjectMeta, Value: p.Value}, true, err
		})
	out := make(map[string]int32, len(found))
	for _, p := range found {
		out[p.Name] = p.Value
	}
	return out, err
}
