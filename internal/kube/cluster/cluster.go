package cluster

import (
	"context"
	"sync"
	"time"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// fieldManager names gpupool in the managed fields of what it writes.
const fieldManager = "gpupool"

// Cluster is what budgets see of a cluster, and do in it. It is safe for
// concurrent use.
type Cluster struct {
	client   *kubeclient.Client
	kube     *kubeclient.Groups
	pageSize int // of pods; zero for the default

	mu sync.Mutex
	// nodes are those of the last look, for pods that are looked at again.
	nodes *nodes
}

// New looks at a cluster through a connection. It makes no call.
func New(c *kubeclient.Client) *Cluster { return &Cluster{client: c, kube: c.Kubernetes()} }

// UID is that of the namespace kube-system: a cluster's identity.
func (c *Cluster) UID(ctx context.Context) (string, error) { return c.client.UID(ctx) }

// Now is the API server's clock, by its last answer; zero before the first.
func (c *Cluster) Now() time.Time { return c.client.Now() }

// Calls counts the API calls made so far, by verb and resource.
func (c *Cluster) Calls() map[string]int { return c.client.Calls() }
