package cluster

import (
	"sync"

	"k8s.io/client-go/kubernetes"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// Cluster is what budgets see of a cluster, and do in it. It is safe for
// concurrent use.
type Cluster struct {
	*kubeclient.Client
	kube     kubernetes.Interface
	pageSize int // of pods; zero for the default

	mu sync.Mutex
	// nodes are those of the last look, for pods that are looked at again.
	nodes *nodes
}

// New looks at a cluster through a connection. It makes no call.
func New(c *kubeclient.Client) *Cluster { return &Cluster{Client: c, kube: c.Kubernetes()} }
