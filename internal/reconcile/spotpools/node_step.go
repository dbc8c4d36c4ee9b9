package spotpools

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// nodeStep carries out a decision about the node of one instance.
type nodeStep struct {
	*actor
	d spotpool.Decision
}

// onNode returns a step on a node.
func (a *actor) onNode(do func(nodeStep, context.Context) error) func(context.Context, spotpool.Decision) error {
	return func(ctx context.Context, d spotpool.Decision) error { return do(nodeStep{a, d}, ctx) }
}

func (a nodeStep) uncordon(ctx context.Context) error {
	cluster, err := a.cluster(ctx)
	if err != nil {
		return err
	}
	// Recorded first: after a kill, the next run must not take the drain for a continuous one.
	if err := a.saveFleet(ctx, a.journal.Value.RequestUncordon(a.d.InstanceIDs[0])); err != nil {
		return err
	}
	a.pass.soFar.Uncordoned = append(a.pass.soFar.Uncordoned, a.d.Node.Name)
	calling, done := record.WithGrace(ctx)
	defer done()
	if err := cluster.UncordonNode(calling, *a.d.Node, a.pass.declaration.UID); err != nil {
		return a.noteUnchanged(ctx, err)
	}
	a.changeNode(*a.d.Node, func(n *node.Node) { n.Cordoned, n.CordonedBy = false, "" })
	a.note(ctx, a.d, outcome.Done, nil)
	return a.record(ctx, a.journal.Value.RecordUncordon(a.d.InstanceIDs[0], a.observation.At))
}

func (a nodeStep) deleteNode(ctx context.Context) error {
	cluster, err := a.cluster(ctx)
	if err != nil {
		return err
	}
	if err := a.saveFleet(ctx, a.journal.Value.DeleteNode(a.d, a.observation.At)); err != nil {
		return err
	}
	a.pass.soFar.Forgotten = append(a.pass.soFar.Forgotten, a.d.InstanceIDs[0])
	calling, done := record.WithGrace(ctx)
	defer done()
	if err := cluster.DeleteNode(calling, *a.d.Node, a.pass.declaration.UID); err != nil {
		if refused(err) {
			if err := a.saveFleet(calling, a.journal.Value.DeleteNode(a.d, time.Time{})); err != nil {
				return err
			}
		}
		return a.noteUnchanged(ctx, err)
	}
	observation := &a.pass.nodes.observation
	observation.Nodes = slices.DeleteFunc(slices.Clone(observation.Nodes), func(n node.Node) bool { return n.UID == a.d.Node.UID })
	a.flow.forgetCluster()
	a.note(ctx, a.d, outcome.Done, nil)
	return nil
}

// refused reports whether an error certainly means that nothing was done.
func refused(err error) bool {
	var classed interface{ ErrorClass() errorclass.Class }
	return errors.Is(err, node.ErrChanged) || errors.As(err, &classed) && classed.ErrorClass() != errorclass.Transient
}

// noteUnchanged notes why a node was not changed. If it is another node by now, that is not a
// failure: the next observation shows it.
func (a nodeStep) noteUnchanged(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, outcome.ErrPlanned):
		return err
	case errors.Is(err, node.ErrChanged):
		a.flow.forgetCluster()
		a.note(ctx, a.d, outcome.Short, err)
	default:
		a.fail(ctx, a.d, err)
	}
	return nil
}

// changeNode applies a change to the observed node, for later decisions.
func (a *actor) changeNode(n node.Node, change func(*node.Node)) {
	observation := &a.pass.nodes.observation
	observation.Nodes = slices.Clone(observation.Nodes)
	for at := range observation.Nodes {
		if observation.Nodes[at].UID == n.UID {
			change(&observation.Nodes[at])
		}
	}
	a.flow.forgetCluster()
}

// mark adds the pool's mark to nodes, unless it detaches its instances, and removes it if the
// pool no longer has nodes. A failure is a warning, since the next run retries.
func (a *actor) mark(ctx context.Context, p decide.Plan) {
	uid := a.pass.declaration.UID
	a.eachNode(ctx, p.Marked, func(c Cluster, n node.Node) error { return c.UnmarkNode(ctx, n, uid) }, "", reason.MarkKept)
	if a.pass.destroys && a.pass.declaration.OnDestroy == spotpool.DestroyRetain {
		return
	}
	a.eachNode(ctx, p.Unmarked, func(c Cluster, n node.Node) error { return c.MarkNode(ctx, n, uid) }, uid, reason.MarkMissing)
}

// eachNode changes the marks of nodes, until one fails.
func (a *actor) eachNode(ctx context.Context, nodes []node.Node, do func(Cluster, node.Node) error, marked string,
	failed func(reason.Node, reason.Foreign) reason.Reason) {
	for _, n := range nodes {
		cluster, err := a.cluster(ctx)
		if err == nil {
			err = do(cluster, n)
		}
		switch {
		case errors.Is(err, outcome.ErrPlanned), errors.Is(err, node.ErrChanged):
		case err != nil:
			a.pass.warnings = append(a.pass.warnings, failed(reason.Node(n.Name), reason.Failure(err)))
			return
		default:
			a.changeNode(n, func(n *node.Node) { n.Pool = marked })
		}
	}
}
