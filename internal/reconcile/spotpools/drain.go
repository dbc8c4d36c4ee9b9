package spotpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
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

// drainsAtOnce is how many nodes are worked on at the same time.
const drainsAtOnce = 16

// attempt is one at a drain, and what it showed.
type attempt struct {
	nodeStep
	cordon   error // why the node is not cordoned
	progress node.Progress
	failure  error
}

// drain works once on emptying the nodes of this decision, and of all other drains of its
// plan: it writes down that they are asked for, keeps new pods off every node before it
// evicts from the first, so that no pod moves from one of them to the next, and asks for
// evictions. It does not wait for pods that take their time: the next attempt sees what
// is left.
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
		if n > 0 { // do showed the first
			a.tell(t.d)
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
			t.progress, t.failure = t.empty(ctx, cluster)
		}
	})
	return a.noteAttempts(ctx, attempts)
}

// onEach does something for each attempt, for many at a time.
func onEach(attempts []attempt, do func(*attempt)) {
	var group errgroup.Group
	group.SetLimit(drainsAtOnce)
	for n := range attempts {
		group.Go(func() error {
			do(&attempts[n])
			return nil
		})
	}
	_ = group.Wait()
}

// attempts are those at the drain of this decision, and at the others of the plan that no
// attempt was made at yet.
func (a nodeStep) attempts() []attempt {
	list := []attempt{{nodeStep: a}}
	for _, d := range a.pass.latest.plan.Decisions {
		if d.Kind == spotpool.KindDrain && !slices.Equal(d.InstanceIDs, a.d.InstanceIDs) && !slices.Contains(a.pass.soFar.Drained, d.InstanceIDs[0]) {
			list = append(list, attempt{nodeStep: nodeStep{a.actor, d}})
		}
	}
	return list
}

// noteAttempts records and notes what the attempts showed.
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
			if err := t.notChanged(ctx, t.cordon); err != nil {
				return err
			}
		case t.failure != nil:
			a.fail(ctx, t.d, t.failure)
		case drain.Phase == node.Done, drain.Ends():
			a.note(ctx, t.d, outcome.Done, nil)
		default:
			a.note(ctx, t.d, outcome.Short, waits(drain))
		}
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

// grace is how many seconds a pod gets to end: its own, or what is left until the cloud
// takes the instance.
func (a nodeStep) grace(p node.Pod) int64 {
	if a.d.TakenAt.IsZero() {
		return p.Grace
	}
	return max(1, min(p.Grace, int64(a.d.TakenAt.Sub(a.observation.At)/time.Second)))
}
