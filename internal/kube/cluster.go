package kube

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cluster is what budgets see of a cluster, and do in it. It is safe for
// concurrent use.
type Cluster struct {
	*Client
	pageSize int // of pods; zero for the default

	mu sync.Mutex
	// nodes are those of the last look, for pods that are looked at again.
	nodes *nodes
}

// NewCluster looks at a cluster through a connection. It makes no call.
func NewCluster(c *Client) *Cluster { return &Cluster{Client: c} }

// UID is that of the namespace kube-system: a cluster's identity.
func (c *Client) UID(ctx context.Context) (string, error) {
	namespace, err := c.kube.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", Wrap("get", "namespaces "+metav1.NamespaceSystem, err)
	}
	return string(namespace.UID), nil
}
