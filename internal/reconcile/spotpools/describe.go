package spotpools

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// Description is a spot pool as observed now, with its instances.
type Description struct {
	Report
	// The pool's state.
	State state.State `json:"state"`
	// The phase of the pool's record.
	Phase declaration.Phase `json:"phase"`
	// The deletion that is in progress, if any.
	Deletion *record.Deletion `json:"deletion,omitempty"`
	// The decisions that a run would make now. Absent if the pool could not be observed.
	Decisions []spotpool.Decision `json:"decisions,omitzero"`
	// The pool's instances. Absent if the pool could not be observed.
	Machines []decide.Member `json:"machines,omitzero"`
	// Offerings that are cooling down. Absent if the pool could not be observed.
	Cooldowns []markets.Cooldown `json:"cooldowns,omitzero"`
	// Mixed says that the pool can have instances of both charge types.
	Mixed bool `json:"-"`
	// The number of launches whose outcome is unknown. Absent if the pool could not be observed.
	Pending *int `json:"pending_launches,omitempty"`
	declaration.LastRuns
	// Since when fewer instances run than desired, as of the last run.
	ShortSince time.Time `json:"short_since,omitzero"`
	*Why
}

// Why is everything that decisions about a spot pool depend on. Only `gpupool explain` has these
// fields.
type Why struct {
	// The arguments that limit launches or choose their offering.
	Declared Declared `json:"declared"`
	// Each offering, by charge type. Absent if the pool could not be observed.
	Offerings []decide.Appraisal `json:"offerings,omitzero"`
	// How each instance counts. Absent if the pool could not be observed.
	Standings []decide.Standing `json:"standings,omitzero"`
}

// Declared is the part of a declaration that bounds launches or chooses their offering.
type Declared struct {
	// The order in which offerings are tried.
	AllocationStrategy spotpool.AllocationStrategy `json:"allocation_strategy,omitempty"`
	// The preferred charge type.
	InstanceChargeType spotpool.ChargeType `json:"instance_charge_type,omitempty"`
	// The limit of the hourly cost. Null without a limit.
	MaxHourlyCost spotpool.Price `json:"max_hourly_cost"`
	// The currency of the pool's price limits. Absent if none is stored.
	Currency spotpool.Currency `json:"currency,omitempty"`
	// The most instances that one run launches.
	MaxLaunchesPerRun int `json:"max_launches_per_run,omitempty"`
	// How long an instance may take to start.
	LaunchTimeout spotpool.Duration `json:"launch_timeout,omitempty"`
	// How long an offering is avoided after a refusal.
	Cooldown spotpool.Duration `json:"cooldown,omitempty"`
	// The number of on-demand instances.
	OnDemandBase int `json:"on_demand_base,omitempty"`
	// When on-demand instances are launched instead of spot ones.
	OnDemandFallback *spotpool.OnDemandFallback `json:"on_demand_fallback,omitempty"`
}

func declared(d spotpool.Declaration) Declared {
	d = d.WithDefaults()
	return Declared{
		AllocationStrategy: d.AllocationStrategy, InstanceChargeType: d.InstanceChargeType, MaxHourlyCost: d.MaxHourlyCost, Currency: d.Currency,
		MaxLaunchesPerRun: d.MaxLaunchesPerRun, LaunchTimeout: d.LaunchTimeout, Cooldown: d.Cooldown,
		OnDemandBase: d.OnDemandBase, OnDemandFallback: d.OnDemandFallback,
	}
}

// mixed reports whether a pool can have instances of both charge types, or has them.
func mixed(d spotpool.Declaration, members []decide.Member) bool {
	types := d.ChargeTypes()
	return len(types) > 1 || slices.ContainsFunc(members, func(m decide.Member) bool { return m.ChargeType != types[0] })
}

// Describe observes the pools, without a lock, and decides without acting. With why, it
// includes the reasons.
func (r *Run) Describe(ctx context.Context, why bool) []Description {
	list := []Description{}
	for _, broken := range r.Reports() {
		list = append(list, Description{Report: broken})
		if why {
			list[len(list)-1].Why = &Why{}
		}
	}
	regions := map[string][]target{}
	for _, t := range r.kind.opened {
		regions[t.declaration.Region] = append(regions[t.declaration.Region], t)
	}
	for region, targets := range regions {
		observed, err := r.kind.flow.observeTargets(ctx, region, targets)
		for _, t := range targets {
			list = append(list, r.kind.describe(ctx, t, observed, err, why))
		}
	}
	slices.SortFunc(list, func(a, b Description) int { return strings.Compare(a.Summary().Name, b.Summary().Name) })
	return list
}

// deletes says what a run does about a pool that is being deleted.
func (t target) deletes() reason.Reason {
	switch {
	case t.hold != nil:
		return reason.DeletionHeld(reason.Instant{Time: t.hold.Until})
	case t.declaration.OnDestroy == spotpool.DestroyRetain:
		return reason.DeletionUntags()
	case t.declaration.Nodes != nil:
		return reason.DeletionDrains()
	}
	return reason.DeletionTerminates()
}

// describe describes one pool. A non-nil err is why its region was not observed.
func (k *kind) describe(ctx context.Context, t target, observed *regionObservation, err error, why bool) Description {
	d := t.decided()
	of := Description{Phase: t.phase, Deletion: record.NewDeletion(t.phase, t.updatedAt, t.deletes())}
	if why {
		of.Why = &Why{Declared: declared(t.declaration)}
	}
	if err == nil {
		err = sameConnection(d, observed.account)
	}
	if err != nil {
		of.Report = newReport(d, nil, loop.Ending{Became: outcome.Failed, Why: err})
		return of
	}
	k.warnings.Warn(append(observed.markets.warnings(d.Region, t.spot()), observed.warnings...)...)
	observation := observed.pool(t)
	nodes := k.flow.observePoolNodes(ctx, d, t.journal.Value, observation, sharedMaxAge, true)
	if err := nodes.refusal(); err != nil {
		of.Report = newReport(d, nil, loop.Ending{Became: outcome.Failed, Why: err})
		return of
	}
	if !nodes.remark.IsZero() {
		k.warnings.Warn(nodes.remark)
	}
	s := situation(d, observation, nodes, t.journal.Value, k.flow.gate(ctx, d), t.hold)
	plan := decide.Decide(s)
	became := idleOutcome(plan)
	if len(plan.Decisions) > 0 {
		became = outcome.Planned
	}
	if nodes.err != nil {
		became = outcome.Failed
	}
	if t.phase != declaration.Active {
		// terraform apply resumes a creation, and a deletion launches nothing.
		plan.Decisions, plan.Short, became = nil, nil, outcome.Skipped
	}
	shortSince := plan.Journal.ShortSince
	if !shortSince.IsZero() {
		shortSince = t.journal.Value.ShortSince
	}
	if why {
		of.Declared.Currency = plan.Currency
		of.Offerings, of.Standings = decide.Appraise(s, plan), decide.Standings(s, plan)
	}
	return Description{
		Report: newReport(d, &plan, loop.Ending{Became: became, Why: nodes.err}), Phase: t.phase, Deletion: of.Deletion, ShortSince: shortSince,
		Decisions: plan.Decisions, Machines: plan.Members, Cooldowns: plan.Journal.Cooldowns, Mixed: mixed(d, plan.Members),
		Pending: new(len(plan.Journal.Pending)), Why: of.Why,
	}
}

// For returns the pool as a reader of it may see it.
func (d Description) For(reader reason.Renderer) Description {
	d.Report = d.Report.For(reader)
	d.LastRuns, d.Deletion = d.LastRuns.For(reader), d.Deletion.For(reader)
	d.Decisions, d.Machines = reason.Each(d.Decisions, reader), reason.Each(d.Machines, reader)
	if d.Why != nil {
		why := *d.Why
		why.Offerings, why.Standings = reason.Each(why.Offerings, reader), reason.Each(why.Standings, reader)
		d.Why = &why
	}
	return d
}
