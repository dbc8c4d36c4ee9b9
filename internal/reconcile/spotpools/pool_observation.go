package spotpools

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// poolObservation is one observation of a pool that succeeded, and the plan made of it. A
// nil *poolObservation means that none succeeded: such a pool is neither settled nor done.
type poolObservation struct {
	plan        decide.Plan
	observation spotpool.Observation
}

// situation is that of a pool of which nothing was asked so far. Every argument must be
// given, since a gate that is left out would be an open one, and a hold none.
func situation(d spotpool.Declaration, o spotpool.Observation, n nodeObservation, j journal.Journal, gate spotpool.Gate, hold *spotpool.Hold) decide.Situation {
	o.Cluster = n.observation
	return decide.Situation{Declaration: d, Observation: o, OtherNodes: n.others, Journal: j, Now: o.At, Gate: gate, Hold: hold}
}

// situation is that of the pool of a pass.
func (p *pass) situation(o spotpool.Observation, j journal.Journal) decide.Situation {
	s := situation(p.declaration, o, p.nodes, j, p.gate, p.hold)
	s.SoFar = p.soFar
	return s
}

// left names, for people, what is left of the pool: instances, and launches without a
// definite outcome.
func (l *poolObservation) left() []string {
	var left []string
	for _, m := range l.plan.Members {
		text := m.ID + " " + string(m.State)
		if why := m.Protection(); why != "" {
			text += ", protected by " + why
		}
		if drain := l.drainOf(m.ID); drain != "" {
			text += ", " + drain
		}
		if m.Match.Standing == node.Contested {
			text += ", contested: " + m.Match.Why
		}
		left = append(left, text)
	}
	for _, name := range l.plan.NodesLeft {
		text := "the node " + name + " of an instance that is gone"
		if slices.Contains(l.plan.NodesInUse, name) {
			text += ", whose kubelet still reports: if it does so for another machine, drain and delete it, or remove its annotation gpupool/pool-uid"
		}
		left = append(left, text)
	}
	for _, id := range l.plan.TokensLeft {
		left = append(left, "the bootstrap token "+id)
	}
	for _, i := range l.plan.Journal.Pending {
		left = append(left, fmt.Sprintf("what launch %d of %s may have made", i.Request.Sequence, i.WrittenAt.UTC().Format(time.RFC3339)))
	}
	return left
}

// drainOf says, for people, how far the drain of an instance's node is, what it waits for,
// and until when; empty if there is none.
func (l *poolObservation) drainOf(id string) string {
	if l.plan.Nodes == nil {
		return ""
	}
	for _, r := range l.plan.Nodes.Drains {
		if r.InstanceID == id {
			return r.String()
		}
	}
	return ""
}

// waits reports whether anything that is left may end by itself, or be ended soon: a node
// that was kept is not.
func (l *poolObservation) waits() bool {
	for _, m := range l.plan.Members {
		if m.Protection() == "" && !m.Drain.Rests(l.observation.At) {
			return true
		}
	}
	return len(l.plan.Journal.Pending)+len(l.plan.NodesLeft)+len(l.plan.TokensLeft) > 0
}

// underWay counts the instances that are launching, those not found yet included, and
// those that are ending.
func (l *poolObservation) underWay() (launching, ending int) {
	launching = l.plan.Journal.Missing()
	for _, m := range l.plan.Members {
		switch m.Condition {
		case decide.Launching:
			launching++
		case decide.Terminating:
			ending++
		}
	}
	return launching, ending
}

// drains are the instances whose nodes are being emptied, and which then end: but for
// those of a refresh, once it has taken the one step that an operation takes, and those
// with an interruption notice, which the cloud reclaims or the pool keeps.
func (p *pass) drains() []string {
	var ids []string
	for _, m := range p.latest.plan.Members {
		if m.Drain.Open() && m.Drain.TakenAt.IsZero() && m.Node.Name != "" && (!m.Drain.Refresh || !p.soFar.Refreshed) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// observeWhole observes the pool of a pass, and its nodes unless an observation of those
// is shared that is at most maxAge old. An error means that nothing may be done to the
// pool; why its nodes could not be seen is noted in the pass.
func (p *pass) observeWhole(ctx context.Context, j journal.Journal, maxAge time.Duration) (spotpool.Observation, error) {
	observation, err := p.flow.observePool(ctx, p.declaration, j, p.gone)
	if err != nil {
		return observation, err
	}
	seen := p.flow.observePoolNodes(ctx, p.declaration, j, observation, maxAge, false)
	if seen.err != nil && ctx.Err() != nil { // nobody waited for it, which says nothing of the cluster
		return observation, context.Cause(ctx)
	}
	p.nodes = seen
	return observation, p.nodes.refuses()
}

// observe observes the pool and decides, without acting. It writes down what it noticed.
func (p *pass) observe(ctx context.Context) error {
	j, err := p.flow.loadJournal(ctx, p.declaration)
	if err != nil {
		return err
	}
	observation, err := p.observeWhole(ctx, j.Value, pollMaxAge)
	if err != nil {
		return err
	}
	if gate := p.flow.gate(ctx, p.declaration); gate.Closed {
		p.gate = gate
	} else { // it opens for the next run, and nothing more is ended for it
		p.gate.Certain = false
	}
	if p.hold, err = p.flow.holdOn(ctx, p.declaration); err != nil {
		return err
	}
	p.soFar.Drained = nil // what is left of a drain is worked on again
	plan := decide.Decide(p.situation(observation, j.Value))
	p.note(plan, observation)
	if err := p.flow.keepJournal(ctx, p.declaration, j, plan.Journal); err != nil {
		return err
	}
	p.flow.Reporter.Logger().LogAttrs(ctx, slog.LevelInfo, "pool seen", outcome.About(p.declaration.Object()),
		slog.Int("capacity", plan.Capacity), slog.Int("minimum", plan.Minimum), slog.Int("held", plan.Held))
	text := fmt.Sprintf("capacity %d of minimum %d", plan.Capacity, plan.Minimum)
	if drains := p.drainTexts(); len(drains) > 0 {
		text += "; waiting for " + wording.Some(drains)
	}
	p.flow.Reporter.Report(p.declaration.Object(), text, &plan.Counts)
	return nil
}
