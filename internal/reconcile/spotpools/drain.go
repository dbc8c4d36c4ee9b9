package spotpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// count counts the pods with GPUs on the nodes, once, before it is decided which
// instances end; it reports whether that is known now and was not before. Where it can't
// be learned, the ends do not wait for it.
func (a *actor) count(ctx context.Context) bool {
	p := a.pass
	if !p.nodes.observation.Seen() || p.nodes.observation.Pods || a.counted {
		return false
	}
	a.counted = true
	counted := a.flow.observePoolNodes(ctx, p.declaration, a.journal.Value, a.observation, actMaxAge, true)
	if counted.remark != "" {
		p.warnings = append(p.warnings, counted.remark)
	}
	if !counted.observation.Pods {
		return false
	}
	p.nodes = counted
	return true
}

// nodeStep carries out a decision about the node of one instance.
type nodeStep struct {
	*actor
	d spotpool.Decision
}

// onNode is a step that does this to a node.
func (a *actor) onNode(do func(nodeStep, context.Context) error) func(context.Context, spotpool.Decision) error {
	return func(ctx context.Context, d spotpool.Decision) error { return do(nodeStep{a, d}, ctx) }
}

// drain works once on emptying a node: it writes down that it is asked for, keeps new
// pods off, and asks for evictions. It does not wait for pods that take their time: the
// next attempt sees what is left.
func (a nodeStep) drain(ctx context.Context) error {
	id, n := a.d.InstanceIDs[0], *a.d.Node
	if err := a.writeJournal(ctx, a.journal.Value.RequestDrain(a.d, a.observation.At)); err != nil {
		return err
	}
	cluster, err := a.cluster(ctx)
	if err != nil {
		return err
	}
	a.pass.soFar.Drained = append(a.pass.soFar.Drained, id)
	calling, done := record.Outliving(ctx)
	defer done()
	how := a.pass.declaration.WithDefaults().Nodes.Drain
	if err := cluster.CordonNode(calling, n, a.pass.declaration.UID); err != nil {
		if err := a.writeJournal(ctx, a.journal.Value.RecordDrain(id, node.Progress{}, how, a.observation.At)); err != nil {
			return err
		}
		return a.notChanged(ctx, err)
	}
	a.changeNode(n, func(n *node.Node) {
		if !n.Cordoned {
			n.Cordoned, n.CordonedBy = true, a.pass.declaration.UID
		}
	})
	progress, failure := a.empty(ctx, cluster)
	after := a.journal.Value.RecordDrain(id, progress, how, a.observation.At)
	if err := a.writeJournal(ctx, after); err != nil {
		return err
	}
	switch drain := after.DrainOf(id); {
	case failure != nil:
		a.fail(ctx, a.d, failure)
	case drain.Phase == node.Done, drain.Ends():
		a.note(ctx, a.d, outcome.Done, nil)
	default:
		a.note(ctx, a.d, outcome.Short, waits(drain))
	}
	return nil
}

// waits says what a drain waits for.
func waits(d node.Drain) error {
	text := fmt.Sprintf("the node %s is being drained, and %d %s left; the next run goes on", d.Node, d.Left, wording.Plural(d.Left, "pod is", "pods are"))
	if d.Phase == node.Kept {
		text = fmt.Sprintf("the drain of the node %s timed out with %d %s left, and drain.on_timeout keeps it", d.Node, d.Left,
			wording.Plural(d.Left, "pod", "pods"))
	}
	if len(d.Blocked) > 0 {
		text += ": " + strings.Join(d.Blocked, "; ")
	}
	return errors.New(text)
}

// empty asks for the evictions of what is left on a node that was seen cordoned, and
// observes what is left then. The error is the first one that is no disruption budget's
// word; the other pods are evicted nevertheless.
func (a nodeStep) empty(ctx context.Context, cluster Cluster) (node.Progress, error) {
	n := a.d.Node
	unmanaged := a.pass.declaration.WithDefaults().Nodes.Drain.Unmanaged
	pods, err := cluster.NodePods(ctx, n.Name)
	if err != nil {
		return node.Progress{Cordoned: true}, err
	}
	work := node.Remaining(pods, unmanaged)
	var failure error
	blocked := map[string]string{}
	for _, p := range work.Evict {
		if ctx.Err() != nil {
			return node.Progress{Cordoned: true}, context.Cause(ctx)
		}
		err := cluster.Evict(ctx, budget.Eviction{PodRef: budget.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, Grace: a.grace(p)})
		var refused *budget.EvictionBlockedError
		switch {
		case errors.As(err, &refused):
			blocked[p.UID] = refused.Error()
		case err != nil:
			blocked[p.UID] = err.Error()
			failure = cmp.Or(failure, err)
		}
	}
	if len(work.Evict) > len(blocked) {
		if pods, err = cluster.NodePods(ctx, n.Name); err != nil {
			return node.Progress{Cordoned: true}, err
		}
		work = node.Remaining(pods, unmanaged)
	}
	for _, p := range work.Evict {
		if why := blocked[p.UID]; why != "" {
			work.Blocked = append(work.Blocked, why)
		}
	}
	return node.Progress{
		Cordoned: true, Observed: true, Left: work.Left, Blocked: work.Blocked, Untried: failure != nil, Stuck: work.Stuck(*n),
	}, failure
}

// grace is how many seconds a pod gets to end: its own, or what is left until the cloud
// takes the instance.
func (a nodeStep) grace(p node.Pod) int64 {
	if a.d.TakenAt.IsZero() {
		return p.Grace
	}
	return max(1, min(p.Grace, int64(a.d.TakenAt.Sub(a.observation.At)/time.Second)))
}

// uncordon lets a node have new pods again.
func (a nodeStep) uncordon(ctx context.Context) error {
	cluster, err := a.cluster(ctx)
	if err != nil {
		return err
	}
	// Noted first: a run that is killed after the call must not leave a drain that the next
	// run takes for one that lasted.
	if err := a.rememberFleet(ctx, a.journal.Value.RequestUncordon(a.d.InstanceIDs[0])); err != nil {
		return err
	}
	a.pass.soFar.Uncordoned = append(a.pass.soFar.Uncordoned, a.d.Node.Name)
	calling, done := record.Outliving(ctx)
	defer done()
	if err := cluster.UncordonNode(calling, *a.d.Node, a.pass.declaration.UID); err != nil {
		return a.notChanged(ctx, err)
	}
	a.changeNode(*a.d.Node, func(n *node.Node) { n.Cordoned, n.CordonedBy = false, "" })
	a.note(ctx, a.d, outcome.Done, nil)
	return a.record(ctx, a.journal.Value.RecordUncordon(a.d.InstanceIDs[0], a.observation.At))
}

// deleteNode deletes the node of an instance that is gone.
func (a nodeStep) deleteNode(ctx context.Context) error {
	cluster, err := a.cluster(ctx)
	if err != nil {
		return err
	}
	if err := a.rememberFleet(ctx, a.journal.Value.DeleteNode(a.d, a.observation.At)); err != nil {
		return err
	}
	a.pass.soFar.Forgotten = append(a.pass.soFar.Forgotten, a.d.InstanceIDs[0])
	calling, done := record.Outliving(ctx)
	defer done()
	if err := cluster.DeleteNode(calling, *a.d.Node, a.pass.declaration.UID); err != nil {
		if refusal(err) {
			if err := a.rememberFleet(calling, a.journal.Value.DeleteNode(a.d, time.Time{})); err != nil {
				return err
			}
		}
		return a.notChanged(ctx, err)
	}
	observation := &a.pass.nodes.observation
	observation.Nodes = slices.DeleteFunc(slices.Clone(observation.Nodes), func(n node.Node) bool { return n.UID == a.d.Node.UID })
	a.flow.forgetCluster()
	a.note(ctx, a.d, outcome.Done, nil)
	return nil
}

// refusal reports whether an error says for certain that nothing was done.
func refusal(err error) bool {
	var classed interface{ ErrorClass() errorclass.Class }
	return errors.Is(err, node.ErrChanged) || errors.As(err, &classed) && classed.ErrorClass() != errorclass.Transient
}

// notChanged notes why a node was not changed. One that is another by now is no
// failure: the next observation shows it.
func (a nodeStep) notChanged(ctx context.Context, err error) error {
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

// changeNode notes what was done to a node, for the decisions that follow.
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

// mark marks nodes as the pool's own. What fails is a warning, since the next run does
// it.
func (a *actor) mark(ctx context.Context, p decide.Plan) {
	for _, n := range p.Unmarked {
		cluster, err := a.cluster(ctx)
		if err == nil {
			err = cluster.MarkNode(ctx, n, a.pass.declaration.UID)
		}
		switch {
		case errors.Is(err, outcome.ErrPlanned), errors.Is(err, node.ErrChanged):
		case err != nil:
			a.pass.warnings = append(a.pass.warnings, fmt.Sprintf("the node %s is not marked as the pool's, and would not be deleted once its "+
				"instance is gone: %s", n.Name, err))
			return
		default:
			a.changeNode(n, func(n *node.Node) { n.Pool = a.pass.declaration.UID })
		}
	}
}
