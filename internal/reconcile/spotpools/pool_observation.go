package spotpools

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// poolObservation is one successful observation of a pool, and its plan. If it is nil, none
// succeeded: such a pool is neither settled nor done.
type poolObservation struct {
	plan        decide.Plan
	observation spotpool.Observation
}

// situation returns that of a pool before any action. Every argument is required, since an
// omitted gate would be open, and an omitted hold would be none.
func situation(d spotpool.Declaration, o spotpool.Observation, n nodeObservation, j journal.Journal, gate spotpool.Gate, hold *spotpool.Hold) decide.Situation {
	o.Cluster = n.observation
	return decide.Situation{Declaration: d, Observation: o, OtherNodes: n.others, Journal: j, Now: o.At, Gate: gate, Hold: hold}
}

func (p *pass) situation(o spotpool.Observation, j journal.Journal) decide.Situation {
	s := situation(p.declaration, o, p.nodes, j, p.gate, p.hold)
	s.SoFar = p.soFar
	return s
}

// left describes the rest of the pool, such as instances and pending launches.
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
			text += ", ambiguous node: " + m.Match.Why.String()
		}
		left = append(left, text)
	}
	for _, name := range l.plan.NodesLeft {
		left = append(left, "node "+name+" of an instance that is gone")
	}
	for _, id := range l.plan.TokensLeft {
		left = append(left, "bootstrap token "+id)
	}
	for _, i := range l.plan.Journal.Pending {
		left = append(left, fmt.Sprintf("launch %d of %s, whose outcome is unknown", i.Request.Sequence, i.WrittenAt.UTC().Format(time.RFC3339)))
	}
	return left
}

// drainOf returns, for people, the state of the drain of an instance's node; empty if there is
// none.
func (l *poolObservation) drainOf(id string) string {
	if l.plan.Nodes == nil {
		return ""
	}
	for _, r := range l.plan.Nodes.Drains {
		if r.InstanceID == id {
			return r.Reason().String()
		}
	}
	return ""
}

// waits reports whether anything that is left disappears by itself, or can be terminated soon:
// a kept node cannot.
func (l *poolObservation) waits() bool {
	for _, m := range l.plan.Members {
		if m.Protection() == "" && !m.Drain.Rests(l.observation.At) {
			return true
		}
	}
	return len(l.plan.Journal.Pending)+len(l.plan.NodesLeft)+len(l.plan.TokensLeft) > 0
}

func (l *poolObservation) size() *outcome.Size {
	return &outcome.Size{Capacity: l.plan.Capacity, Minimum: l.plan.Minimum}
}

// inProgress counts the launching instances, including those that were not found yet, and the
// terminating ones.
func (l *poolObservation) inProgress() (launching, terminating int) {
	launching = l.plan.Journal.Missing()
	for _, m := range l.plan.Members {
		switch m.Condition {
		case decide.Launching:
			launching++
		case decide.Terminating:
			terminating++
		}
	}
	return launching, terminating
}

// drains returns the instances that are terminated after a drain in progress. It omits those
// of a refresh after the step of this operation, and those with an interruption notice.
func (p *pass) drains() []string {
	var ids []string
	for _, m := range p.latest.plan.Members {
		if m.Drain.Open() && m.Drain.TakenAt.IsZero() && m.Node.Name != "" && (!m.Drain.Refresh || !p.soFar.Refreshed) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// observeWhole observes the pool of a pass, and its nodes unless a shared observation is at
// most maxAge old. After an error, nothing may be done to the pool. The pass notes why its
// nodes could not be observed.
func (p *pass) observeWhole(ctx context.Context, j journal.Journal, maxAge time.Duration) (spotpool.Observation, error) {
	observation, err := p.flow.observePool(ctx, p.declaration, j, p.gone)
	if err != nil {
		return observation, err
	}
	seen := p.flow.observePoolNodes(ctx, p.declaration, j, observation, maxAge, false)
	if seen.err != nil && ctx.Err() != nil { // the error is not the cluster's
		return observation, context.Cause(ctx)
	}
	p.nodes = seen
	return observation, p.nodes.refusal()
}

// observe observes the pool and decides, without acting. It updates the journal.
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
	} else { // it opens for the next run, and terminates nothing more
		p.gate.Certain = false
	}
	if p.hold, err = p.flow.holdOn(ctx, p.declaration); err != nil {
		return err
	}
	p.soFar.Drained = nil // the drains continue
	plan := decide.Decide(p.situation(observation, j.Value))
	p.note(plan, observation)
	if err := p.flow.keepJournal(ctx, p.declaration, j, plan.Journal); err != nil {
		return err
	}
	p.flow.Reporter.Logger().LogAttrs(ctx, slog.LevelInfo, "pool observed", outcome.About(p.declaration.Object()),
		slog.Int("capacity", plan.Capacity), slog.Int("minimum", plan.Minimum), slog.Int("total", plan.Total))
	text := fmt.Sprintf("capacity %d of minimum %d", plan.Capacity, plan.Minimum)
	if drains := p.drainTexts(); len(drains) > 0 {
		text += "; waiting for " + wording.Some(drains)
	}
	p.flow.Reporter.Report(p.declaration.Object(), text, p.latest.size())
	return nil
}
