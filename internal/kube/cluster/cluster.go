package cluster

import (
	"context"
	"sync"
	"time"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// fieldManager names gpupool in the managed fields of what it writes.
const fieldManager = "gpupool"

// Cluster makes the API calls of all kinds. It is safe for concurrent use.
type Cluster struct {
	*connection
	*podReader
	enforcer
	nodeClient
	noticeClient
	tokenClient
	stockClient
}

// connection has the clients that all parts of a Cluster share.
type connection struct {
	client *kubeclient.Client
	kube   *kubeclient.Groups
}

// podReader observes which pods hold GPUs, and what ended since.
type podReader struct {
	*connection
	pageSize int // of pods; zero for the default

	mu sync.Mutex
	// nodes are those of the last observation, for pods that are observed again.
	nodes *nodes
}

// enforcer does what budgets have in force.
type enforcer struct{ *connection }

// nodeClient sees and drains the nodes of spot pools.
type nodeClient struct {
	*connection
	pods *podReader
}

// noticeClient marks nodes whose instances Tencent Cloud reclaims.
type noticeClient struct{ *connection }

// tokenClient makes and ends bootstrap tokens.
type tokenClient struct{ *connection }

// stockClient sees and changes what stock pools are made of.
type stockClient struct{ *connection }

// New returns a cluster behind a connection. It makes no call.
func New(c *kubeclient.Client) *Cluster {
	to := &connection{client: c, kube: c.Kubernetes()}
	pods := &podReader{connection: to}
	return &Cluster{to, pods, enforcer{to}, nodeClient{to, pods}, noticeClient{to}, tokenClient{to}, stockClient{to}}
}

// UID returns the UID of the namespace kube-system, which identifies the cluster.
func (c *connection) UID(ctx context.Context) (string, error) { return c.client.UID(ctx) }

// Now is the API server's clock, by its last answer; zero before the first.
func (c *connection) Now() time.Time { return c.client.Now() }

// Calls counts the API calls made so far, by verb and resource.
func (c *connection) Calls() map[string]int { return c.client.Calls() }
