package spotpools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// recheck observes the nodes of a termination right before it. Each must be the Node that was
// drained, be cordoned, and have no pods if its drain is done. Else the drain starts again. It
// returns the termination of the others.
func (a *actor) recheck(ctx context.Context, d spotpool.Decision) (spotpool.Decision, error) {
	var kept []string
	for _, m := range a.pass.latest.plan.Members {
		if !slices.Contains(d.InstanceIDs, m.ID) || m.Match.Standing != node.Present || !m.Drain.Over() {
			continue
		}
		progress, err := a.observeDrained(ctx, m)
		if err == nil || errors.Is(err, outcome.ErrPlanned) {
			continue
		}
		kept = append(kept, m.ID)
		if err := a.writeJournal(ctx, a.journal.Value.RestartDrain(m.ID, progress, a.observation.At)); err != nil {
			return d, err
		}
		of := d
		of.InstanceIDs, of.Count = []string{m.ID}, 1
		if progress.Observed || errors.Is(err, node.ErrChanged) {
			a.note(ctx, of, outcome.Short, err)
		} else {
			a.fail(ctx, of, err)
		}
	}
	d.InstanceIDs = slices.DeleteFunc(slices.Clone(d.InstanceIDs), func(id string) bool { return slices.Contains(kept, id) })
	d.Count = len(d.InstanceIDs)
	return d, nil
}

// observeDrained observes the node of a member after its drain. The error says why its instance
// is not terminated.
func (a *actor) observeDrained(ctx context.Context, m decide.Member) (node.Progress, error) {
	cluster, err := a.cluster(ctx)
	if err != nil {
		return node.Progress{}, err
	}
	calling, done := record.WithGrace(ctx)
	defer done()
	if err := cluster.CordonNode(calling, m.Node, a.pass.declaration.UID); err != nil || m.Drain.Phase != node.Done {
		return node.Progress{}, err
	}
	pods, err := cluster.NodePods(ctx, m.Node.Name)
	if err != nil {
		return node.Progress{}, err
	}
	work := node.Remaining(pods, a.pass.declaration.WithDefaults().Nodes.Drain.UnmanagedPods)
	p := node.Progress{Observed: true, Left: work.Left, Blocked: work.Blocked}
	if p.Left > 0 {
		err = fmt.Errorf("node %s was drained, and has %d %s again: %s is not terminated, and its node is drained again", m.Node.Name, p.Left,
			wording.Plural(p.Left, "pod", "pods"), m.ID)
	}
	return p, err
}
