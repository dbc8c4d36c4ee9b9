package spotpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Cluster is what pools with nodes need of a Kubernetes cluster. Errors name the verb
// and the object, and wrap the API's own. What changes a node is done to exactly the
// one that was seen, by its uid.
type Cluster interface {
	NodeReader
	NodeChanges
	TokenChanges
}

// NodeReader changes nothing.
type NodeReader interface {
	record.Cluster
	// Nodes observes all nodes.
	Nodes(ctx context.Context) (node.Observation, error)
	// NodePods lists afresh all pods on a node, as a drain sees them.
	NodePods(ctx context.Context, name string) ([]node.Pod, error)
	// GPUPods counts afresh the pods with GPUs that are bound and have not ended, by the
	// name of their node.
	GPUPods(ctx context.Context) (map[string]int, error)
}

// NodeChanges are all changes of nodes and of their pods.
type NodeChanges interface {
	// MarkNode marks a node as a pool's own.
	MarkNode(ctx context.Context, n node.Node, poolUID string) error
	// UnmarkNode undoes that, if the node has the pool's mark.
	UnmarkNode(ctx context.Context, n node.Node, poolUID string) error
	// CordonNode keeps new pods off a node, in the pool's name, unless somebody else
	// does so already. UncordonNode undoes that, where the pool did it.
	CordonNode(ctx context.Context, n node.Node, poolUID string) error
	UncordonNode(ctx context.Context, n node.Node, poolUID string) error
	// DeleteNode deletes a node that bears the pool's mark; one that is gone is no error.
	DeleteNode(ctx context.Context, n node.Node, poolUID string) error
	// Evict asks for the eviction of exactly this pod. The error is
	// *budget.EvictionBlockedError where a disruption budget does not allow it, and nil
	// where the pod is gone already.
	Evict(ctx context.Context, e budget.Eviction) error
}

// TokenChanges are all changes of bootstrap tokens.
type TokenChanges interface {
	// CreateToken makes the Secret of a bootstrap token. The error wraps
	// node.ErrTokenExists where there is one of its id.
	CreateToken(ctx context.Context, t node.BootstrapToken) error
	// TokenTaken reports whether there is a Secret of a bootstrap token's id. It makes none,
	// and needs the right to.
	TokenTaken(ctx context.Context, t node.BootstrapToken) (bool, error)
	// DeleteToken deletes the Secret of a bootstrap token; one that is gone is no error.
	DeleteToken(ctx context.Context, id string) error
}
