package notice

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// PodDeleter deletes pods of a node.
type PodDeleter interface {
	// ProviderID returns the provider ID of a node.
	ProviderID(ctx context.Context, name string) (node.ProviderID, error)
	// PodsOn lists all pods of a node.
	PodsOn(ctx context.Context, name string) ([]node.Pod, error)
	// DeletePod deletes exactly this pod. It is no error if that is gone.
	DeletePod(ctx context.Context, d node.Deletion) error
}

// evictionLead is how long after the mark the agent waits for the evictions of runs, which respect disruption
// budgets.
const evictionLead = 3 * time.Second

// endPods deletes the pods that would die with the instance without a chance to end, and reports whether some
// are left to be deleted. It deletes none after the announced time, and none of a node that another instance is.
func (a *Agent) endPods(ctx context.Context, now time.Time) (left bool, err error) {
	switch {
	case !a.onNode.marked || !now.Before(a.heard):
		return false, nil
	case now.Before(a.markedAt.Add(evictionLead)) && now.Before(a.heard.Add(-node.ReclaimReserve)):
		return true, nil
	}
	err = a.deletePods(ctx, now)
	if ctx.Err() == nil {
		a.trouble("pods", err, "")
	}
	reach := node.Reach{Pods: len(a.pods), At: a.reach.At}
	for _, deleted := range a.pods {
		if deleted {
			reach.Deleted++
		}
	}
	if reach != a.reach {
		a.reach, a.reach.At = reach, now
	}
	return err != nil || reach.Deleted < reach.Pods, a.mark(ctx, now)
}

// deletePods deletes what has no deletion in time, and records it. The error is the first one; other pods are
// deleted nevertheless.
func (a *Agent) deletePods(ctx context.Context, now time.Time) error {
	if err := a.isOwnNode(ctx); err != nil {
		return err
	}
	pods, err := a.Cluster.PodsOn(ctx, a.Node)
	if err != nil {
		return err
	}
	// Pods that ended by themselves need no deletion.
	maps.DeleteFunc(a.pods, func(_ string, deleted bool) bool { return !deleted })
	deletions, deleted := node.Deletions(pods, a.heard, now)
	for _, p := range deleted {
		a.pods[p.UID] = true
	}
	for _, d := range deletions {
		failed := a.Cluster.DeletePod(ctx, d)
		a.pods[d.Pod.UID] = failed == nil
		if failed != nil {
			err = cmp.Or(err, failed)
			continue
		}
		a.Log.InfoContext(ctx, "pod deleted", "node", a.Node, "pod", d.Pod.String(), "grace_seconds", d.Grace, "taken_at", a.heard)
	}
	return err
}

// isOwnNode returns an error unless the node has the provider ID of this instance. A node of a reused name can be
// another instance.
func (a *Agent) isOwnNode(ctx context.Context) error {
	own, err := a.Metadata.InstanceID(ctx)
	if err != nil {
		return err
	}
	id, err := a.Cluster.ProviderID(ctx, a.Node)
	switch {
	case err != nil:
		return err
	case id.InstanceID == "":
		return fmt.Errorf("pods of the node %s are not deleted before the reclaim: it has no provider ID of Tencent Cloud. "+
			"Start its kubelet with --provider-id", a.Node)
	case id.InstanceID != own:
		return fmt.Errorf("pods of the node %s are not deleted before the reclaim: it is the instance %s by its provider ID, "+
			"and this is %s", a.Node, id.InstanceID, own)
	}
	return nil
}
