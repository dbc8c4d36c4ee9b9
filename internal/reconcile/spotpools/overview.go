package spotpools

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Overview is one pool with its machines, and what a run would do about it now.
type Overview struct {
	Report
	Phase     declaration.Phase   `json:"phase"`
	Decisions []spotpool.Decision `json:"decisions"` // what a run would do now
	Machines  []spotpool.Member   `json:"machines"`
	Cooldowns []spotpool.Cooldown `json:"cooldowns"`
	Intents   int                 `json:"open_intents"`
	// Failing is what the last runs failed with, and PassedOver why they passed the
	// pool over; absent where the last one did not.
	Failing    *declaration.Failing `json:"failing,omitempty"`
	PassedOver *declaration.Failing `json:"passed_over,omitempty"`
	// ShortSince is since when fewer instances run than are wanted, as the last run saw
	// it.
	ShortSince time.Time `json:"short_since,omitzero"`
}

// Overview observes the pools that were read, without a lock, and decides without
// acting.
func (r *Run) Overview(ctx context.Context) []Overview {
	list := []Overview{}
	r.each(ctx, func(o Overview, _ target, _ *decided) { list = append(list, o) })
	return list
}

// each observes the pools that were read, and tells of each by name, with what its
// overview was made of: nil where it can't be looked at.
func (r *Run) each(ctx context.Context, tell func(Overview, target, *decided)) {
	type seen struct {
		overview Overview
		target   target
		by       *decided
	}
	list := []seen{}
	for _, broken := range r.Reports() {
		list = append(list, seen{overview: Overview{Report: broken}})
	}
	regions := map[string][]target{}
	for _, t := range r.kind.opened {
		regions[t.declaration.Region] = append(regions[t.declaration.Region], t)
	}
	for region, targets := range regions {
		view, err := r.kind.flow.lookFor(ctx, region, targets)
		for _, t := range targets {
			overview, by := r.kind.overviewOf(ctx, t, view, err)
			list = append(list, seen{overview, t, by})
		}
	}
	slices.SortFunc(list, func(a, b seen) int { return strings.Compare(a.overview.Summary().Name, b.overview.Summary().Name) })
	for _, s := range list {
		tell(s.overview, s.target, s.by)
	}
}

// decided is a pool as a look without a lock shows it, and what follows from that.
type decided struct {
	situation spotpool.Situation
	plan      spotpool.Plan
}

// overviewOf is a pool's overview, and what it was made of; nil where the pool can't be
// looked at.
func (k *kind) overviewOf(ctx context.Context, t target, view *regionView, err error) (Overview, *decided) {
	d := t.declaration
	if err == nil {
		err = sameAccount(d, view.accountID)
	}
	if err != nil {
		return Overview{Report: newReport(d, nil, loop.Ending{Became: outcome.Failed, Why: err}), Phase: t.phase}, nil
	}
	for _, text := range append(view.markets.warnings(d.Region, t.spot()), view.warnings...) {
		k.warnings.Add(text)
	}
	observation := view.observation(t)
	nodes := k.flow.seeNodes(ctx, d, t.journal.Value, observation, sharedFor, true)
	if err := nodes.refuses(); err != nil {
		return Overview{Report: newReport(d, nil, loop.Ending{Became: outcome.Failed, Why: err}), Phase: t.phase}, nil
	}
	if nodes.remark != "" {
		k.warnings.Add(nodes.remark)
	}
	s := situation(d, observation, nodes, t.journal.Value, k.flow.gate(ctx, d), t.hold)
	plan := spotpool.Decide(s)
	became := idleOutcome(plan)
	if len(plan.Decisions) > 0 {
		became = outcome.Planned
	}
	if nodes.err != nil {
		became = outcome.Failed
	}
	if t.phase != declaration.Active {
		// A creation is for terraform apply to go on with, and a deletion launches nothing.
		plan.Decisions, plan.Short, became = nil, nil, outcome.Skipped
	}
	shortSince := plan.Journal.ShortSince
	if !shortSince.IsZero() {
		shortSince = t.journal.Value.ShortSince
	}
	return Overview{
		Report: newReport(d, &plan, loop.Ending{Became: became, Why: nodes.err}), Phase: t.phase, ShortSince: shortSince, Decisions: plan.Decisions,
		Machines: plan.Members, Cooldowns: plan.Journal.Cooldowns, Intents: len(plan.Journal.Intents),
	}, &decided{situation: s, plan: plan}
}
