package spotpools

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// look is one look at a pool that succeeded, and the plan made of it. A nil *look
// means that no look succeeded: such a pool is neither settled nor done.
type look struct {
	plan        spotpool.Plan
	observation spotpool.Observation
}

// situation is that of a pool of which nothing was asked so far. Every argument must be
// given, since a gate that is left out would be an open one, and a hold none.
func situation(d spotpool.Declaration, o spotpool.Observation, j spotpool.Journal, gate spotpool.Gate, hold *spotpool.Hold) spotpool.Situation {
	return spotpool.Situation{Declaration: d, Observation: o, Journal: j, Now: o.At, Gate: gate, Hold: hold}
}

// situation is that of the pool of a pass.
func (p *pass) situation(o spotpool.Observation, j spotpool.Journal) spotpool.Situation {
	s := situation(p.declaration, o, j, p.gate, p.hold)
	s.SoFar = p.soFar
	return s
}

// left names, for people, what is left of the pool: instances, and launches without a
// definite outcome.
func (l *look) left() []string {
	var left []string
	for _, m := range l.plan.Members {
		text := m.ID + " " + string(m.State)
		if why := m.Protection(); why != "" {
			text += ", protected by " + why
		}
		left = append(left, text)
	}
	for _, i := range l.plan.Journal.Intents {
		left = append(left, fmt.Sprintf("what launch %d of %s may have made", i.Request.Sequence, i.WrittenAt.UTC().Format(time.RFC3339)))
	}
	return left
}

// waits reports whether anything that is left may end by itself, or be ended later.
func (l *look) waits() bool {
	for _, m := range l.plan.Members {
		if m.Protection() == "" {
			return true
		}
	}
	return len(l.plan.Journal.Intents) > 0
}

// underWay counts the instances that are launching, those not found yet included, and
// those that are ending.
func (l *look) underWay() (launching, ending int) {
	launching = l.plan.Journal.OpenCount()
	for _, m := range l.plan.Members {
		switch m.Condition {
		case spotpool.Launching:
			launching++
		case spotpool.Terminating:
			ending++
		}
	}
	return launching, ending
}

// look observes the pool and decides, without acting. It writes down what it noticed.
func (f *Flow) look(ctx context.Context, p *pass) error {
	j, err := f.loadJournal(ctx, p.declaration)
	if err != nil {
		return err
	}
	observation, err := f.observePool(ctx, p.declaration, j.Value, p.gone)
	if err != nil {
		return err
	}
	if gate := f.gate(ctx, p.declaration); gate.Closed { // a gate that opens meanwhile opens for the next run
		p.gate = gate
	}
	if p.hold, err = f.holdOn(ctx, p.declaration); err != nil {
		return err
	}
	plan := spotpool.Decide(p.situation(observation, j.Value))
	p.saw(plan, observation)
	if err := f.keepJournal(ctx, p.declaration, j, plan.Journal); err != nil {
		return err
	}
	f.Teller.Logger().LogAttrs(ctx, slog.LevelInfo, "pool seen", outcome.About(p.declaration.Object()),
		slog.Int("capacity", plan.Capacity), slog.Int("minimum", plan.Minimum), slog.Int("held", plan.Held))
	f.Teller.Tell(p.declaration.Object(), fmt.Sprintf("capacity %d of minimum %d", plan.Capacity, plan.Minimum), &plan.Counts)
	return nil
}
