package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// namespace has the fields of a Namespace that budgets need.
type namespace struct {
	name    string
	created time.Time
	labels  map[string]string
}

// namespaceOf reads a namespace.
func namespaceOf(object []byte) (namespace, error) {
	var n corev1.Namespace
	err := n.Unmarshal(object)
	return namespace{name: n.Name, created: n.CreationTimestamp.Time, labels: namespaceLabels(&n)}, err
}

// namespaceLabels are a namespace's labels, with its protection by an annotation as one.
func namespaceLabels(n *corev1.Namespace) map[string]string {
	if value, ok := n.Annotations[budget.ProtectedKey]; ok {
		return merged(map[string]string{budget.ProtectedKey: value}, n.Labels)
	}
	return n.Labels
}

func (c *connection) readNamespaces(ctx context.Context) ([]namespace, error) {
	return kubeclient.List(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "namespaces"},
		func(object []byte) (namespace, bool, error) {
			n, err := namespaceOf(object)
			return n, true, err
		})
}

// Namespaces are the labels of the namespaces, by name.
func (c *podReader) Namespaces(ctx context.Context) (map[string]map[string]string, error) {
	list, err := c.readNamespaces(ctx)
	out := make(map[string]map[string]string, len(list))
	for _, n := range list {
		out[n.name] = n.labels
	}
	return out, err
}

// PriorityClasses lists the values of the priority classes, by name.
func (c *podReader) PriorityClasses(ctx context.Context) (map[string]int32, error) {
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
