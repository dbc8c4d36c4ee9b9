package spotpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// count counts the pods with GPUs on the nodes, once, before instances are chosen for
// termination. It reports whether the counts are new. A failure does not delay terminations.
func (a *actor) count(ctx context.Context) bool {
	p := a.pass
	if !p.nodes.observation.Observed() || p.nodes.observation.Pods || a.counted {
		return false
	}
	a.counted = true
	counted := a.flow.observePoolNodes(ctx, p.declaration, a.journal.Value, a.observation, actMaxAge, true)
	if !counted.remark.IsZero() {
		p.warnings = append(p.warnings, counted.remark)
	}
	if !counted.observation.Pods {
		return false
	}
	p.nodes = counted
	return true
}

// maxParallelDrains is how many nodes are drained at the same time.
const maxParallelDrains = 16

// attempt is one attempt at a drain, and its result.
type attempt struct {
	nodeStep
	cordon   error // why the node is not cordoned
	progress node.Progress
	failure  error
}

// drain works on the drains of this decision and of all others of its plan. It records them,
// cordons all nodes, so that no pod moves from one to the next, and then evicts. It does not
// wait for pods that terminate slowly: the next attempt observes them.
func (a nodeStep) drain(ctx context.Context) error {
	attempts := a.attempts()
	asked := a.journal.Value
	for _, t := range attempts {
		asked = asked.RequestDrain(t.d, a.observation.At)
	}
	if err := a.writeJournal(ctx, asked); err != nil {
		return err
	}
	cluster, err := a.cluster(ctx)
	if err != nil {
		return err
	}
	calling, done := record.WithGrace(ctx)
	defer done()
	for n := range attempts {
		t := &attempts[n]
		if n > 0 { // the first is shown by do
			a.showProgress(t.d)
		}
		id := t.d.InstanceIDs[0]
		if a.pass.soFar.Drained = append(a.pass.soFar.Drained, id); !slices.Contains(a.pass.soFar.Tried, id) {
			a.pass.soFar.Tried = append(a.pass.soFar.Tried, id)
		}
	}
	onEach(attempts, func(t *attempt) { t.cordon = cluster.CordonNode(calling, *t.d.Node, a.pass.declaration.UID) })
	for _, t := range attempts {
		switch {
		case errors.Is(t.cordon, outcome.ErrPlanned):
			return t.cordon
		case t.cordon == nil:
			a.changeNode(*t.d.Node, func(n *node.Node) {
				if !n.Cordoned {
					n.Cordoned, n.CordonedBy = true, a.pass.declaration.UID
				}
			})
		}
	}
	onEach(attempts, func(t *attempt) {
		if t.cordon == nil {
			t.progress, t.failure = t.evict(ctx, cluster)
		}
	})
	return a.noteAttempts(ctx, attempts)
}

// onEach calls do for each attempt, in parallel.
func onEach(attempts []attempt, do func(*attempt)) {
	var group errgroup.Group
	group.SetLimit(maxParallelDrains)
	for n := range attempts {
		group.Go(func() error {
			do(&attempts[n])
			return nil
		})
	}
	_ = group.Wait()
}

// attempts returns one at the drain of this decision, and one at each other drain of the plan
// without an attempt.
func (a nodeStep) attempts() []attempt {
	list := []attempt{{nodeStep: a}}
	for _, d := range a.pass.latest.plan.Decisions {
		if d.Kind == spotpool.KindDrain && !slices.Equal(d.InstanceIDs, a.d.InstanceIDs) && !slices.Contains(a.pass.soFar.Drained, d.InstanceIDs[0]) {
			list = append(list, attempt{nodeStep: nodeStep{a.actor, d}})
		}
	}
	return list
}

// noteAttempts records and notes the results of the attempts.
func (a nodeStep) noteAttempts(ctx context.Context, attempts []attempt) error {
	after, how := a.journal.Value, a.pass.declaration.WithDefaults().Nodes.Drain
	for _, t := range attempts {
		after = after.RecordDrain(t.d.InstanceIDs[0], t.progress, how, a.observation.At)
	}
	if err := a.writeJournal(ctx, after); err != nil {
		return err
	}
	for _, t := range attempts {
		switch drain := after.DrainOf(t.d.InstanceIDs[0]); {
		case t.cordon != nil:
			if err := t.noteUnchanged(ctx, t.cordon); err != nil {
				return err
			}
		case t.failure != nil:
			a.fail(ctx, t.d, t.failure)
		case drain.Phase == node.Done, drain.Ends():
			a.note(ctx, t.d, outcome.Done, nil)
		default:
			a.note(ctx, t.d, outcome.Short, drainBlocker(drain))
		}
	}
	return nil
}

// drainBlocker returns what a drain waits for.
func drainBlocker(d node.Drain) error {
	text := fmt.Sprintf("node %s is draining, and %d %s left; the next run continues", d.Node, d.Left, wording.Plural(d.Left, "pod is", "pods are"))
	if d.Phase == node.Kept {
		text = fmt.Sprintf("the drain of node %s timed out with %d %s left, and drain.on_timeout keeps it", d.Node, d.Left,
			wording.Plural(d.Left, "pod", "pods"))
	}
	if len(d.Blocked) > 0 {
		text += ": " + strings.Join(d.Blocked, "; ")
	}
	return errors.New(text)
}

// evict evicts the pods of a cordoned node, and observes which are left. The error is the
// first one that is not of a disruption budget; the other pods are evicted nevertheless.
func (a nodeStep) evict(ctx context.Context, cluster Cluster) (node.Progress, error) {
	n := a.d.Node
	unmanaged := a.pass.declaration.WithDefaults().Nodes.Drain.UnmanagedPods
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

// grace returns how many seconds a pod has to terminate.
func (a nodeStep) grace(p node.Pod) int64 {
	if a.d.TakenAt.IsZero() {
		return p.Grace
	}
	return node.GraceBefore(a.d.TakenAt, a.observation.At, p.Grace)
}
