// Package accounting keeps the ledger of a cluster. It merges observed pods and nodes into it, closes the
// intervals of vanished pods, and drops what no budget needs. It judges nothing.
package accounting

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// Cluster is the read-only access of accounting to a Kubernetes cluster.
type Cluster interface {
	// Now is the cluster's clock.
	Now() time.Time
	// Observe observes the cluster. With a resource version it replays the watch
	// of pods from there, and where that is complete it lists no pods.
	Observe(ctx context.Context, o gpu.ObserveOptions) (gpu.Observation, error)
	// LivePods lists the pods with GPUs of some namespaces, or of all if none is named, without a cache. It
	// may return more, never fewer. Pods that wait for GPUs are included: enforcement judges these.
	LivePods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error)
	// WaitingPods are those of LivePods that no kubelet has accepted.
	WaitingPods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error)
	// PodEvents looks up, in the cluster's Events, when pods ended: by uid.
	PodEvents(ctx context.Context, pods []budget.PodRef) (map[string]time.Time, error)
}
