package spotpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Cluster is what pools with nodes need of a Kubernetes cluster. Errors name the verb and the
// object, and wrap the API's own. Changes apply only to the observed node, by its UID.
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
	// NodePods lists all pods on a node now, as a drain sees them.
	NodePods(ctx context.Context, name string) ([]node.Pod, error)
	// GPUPods counts the pods with GPUs now that are bound and not terminated, by the name of
	// their node.
	GPUPods(ctx context.Context) (map[string]int, error)
}

// NodeChanges are all changes of nodes and of their pods.
type NodeChanges interface {
	// MarkNode adds a pool's mark to a node.
	MarkNode(ctx context.Context, n node.Node, poolUID string) error
	// UnmarkNode removes the pool's mark, if the node has it.
	UnmarkNode(ctx context.Context, n node.Node, poolUID string) error
	// CordonNode cordons a node for the pool, unless it is cordoned. UncordonNode uncordons
	// it, if the pool cordoned it.
	CordonNode(ctx context.Context, n node.Node, poolUID string) error
	UncordonNode(ctx context.Context, n node.Node, poolUID string) error
	// DeleteNode deletes a node with the pool's mark; a missing one is not an error.
	DeleteNode(ctx context.Context, n node.Node, poolUID string) error
	// Evict requests the eviction of exactly this pod. The error is
	// *budget.EvictionBlockedError if a disruption budget blocks it, and nil if the pod is
	// gone.
	Evict(ctx context.Context, e budget.Eviction) error
}

// TokenChanges are all changes of bootstrap tokens.
type TokenChanges interface {
	// CreateToken creates the Secret of a bootstrap token. The error wraps
	// node.ErrTokenExists if there is one of its ID.
	CreateToken(ctx context.Context, t node.BootstrapToken) error
	// TokenTaken reports whether there is a Secret of a bootstrap token's ID. It creates none,
	// but needs the permission.
	TokenTaken(ctx context.Context, t node.BootstrapToken) (bool, error)
	// DeleteToken deletes the Secret of a bootstrap token; a missing one is not an error.
	DeleteToken(ctx context.Context, id string) error
}
