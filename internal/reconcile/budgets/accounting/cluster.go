// Package accounting keeps the ledger of a cluster: what an observation shows of pods and
// nodes is merged into it, what is gone without a word is closed, and what no budget needs
// any longer is dropped. It judges nothing.
package accounting

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// Cluster is what accounting needs of a Kubernetes cluster; it changes nothing there.
type Cluster interface {
	// Now is the cluster's clock.
	Now() time.Time
	// Observe observes the cluster. With a resource version it replays the watch
	// of pods from there, and where that is complete it lists no pods.
	Observe(ctx context.Context, o gpu.ObserveOptions) (gpu.Observation, error)
	// LivePods lists afresh the pods with GPUs of some namespaces, or of all where
	// none is named; it may answer more, never fewer. Those that wait for GPUs are
	// among them: what is enforced is judged on these.
	LivePods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error)
	// WaitingPods are those of LivePods that no kubelet has accepted.
	WaitingPods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error)
	// PodEvents looks up, in the cluster's Events, when pods ended: by uid.
	PodEvents(ctx context.Context, pods []budget.PodRef) (map[string]time.Time, error)
}
