package spotpools

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// Description is one pool with its machines, and what a run would do about it now.
type Description struct {
	Report
	// State is how the pool is.
	State     state.State         `json:"state"`
	Phase     declaration.Phase   `json:"phase"`
	Decisions []spotpool.Decision `json:"decisions"` // what a run would do now
	Machines  []decide.Member     `json:"machines"`
	Cooldowns []markets.Cooldown  `json:"cooldowns"`
	Pending   int                 `json:"open_intents"`
	// Failing is what the last runs failed with, and PassedOver why they passed the
	// pool over; absent where the last one did not.
	Failing    *declaration.Failing `json:"failing,omitempty"`
	PassedOver *declaration.Failing `json:"passed_over,omitempty"`
	// ShortSince is since when fewer instances run than are wanted, as the last run saw
	// it.
	ShortSince time.Time `json:"short_since,omitzero"`
	*Why
}

// Why is all that decisions about a pool follow from.
type Why struct {
	Declared Declared `json:"declared"`
	// Offerings are what there is to say of each, and Standings what each instance
	// counts as.
	Offerings []decide.Appraisal `json:"offerings"`
	Standings []decide.Standing  `json:"standings"`
}

// Declared is what of a declaration bounds launches, or chooses where they go.
type Declared struct {
	AllocationStrategy spotpool.AllocationStrategy `json:"allocation_strategy,omitempty"`
	InstanceChargeType spotpool.ChargeType         `json:"instance_charge_type,omitempty"`
	MaxHourlyCost      spotpool.Price              `json:"max_hourly_cost"` // null without a cap
	MaxLaunchesPerRun  int                         `json:"max_launches_per_run,omitempty"`
	LaunchTimeout      spotpool.Duration           `json:"launch_timeout,omitempty"`
	Cooldown           spotpool.Duration           `json:"cooldown,omitempty"`
	OnDemandBase       int                         `json:"on_demand_base,omitempty"`
	OnDemandFallback   *spotpool.OnDemandFallback  `json:"on_demand_fallback,omitempty"`
}

func declared(d spotpool.Declaration) Declared {
	d = d.WithDefaults()
	return Declared{
		AllocationStrategy: d.AllocationStrategy, InstanceChargeType: d.InstanceChargeType, MaxHourlyCost: d.MaxHourlyCost,
		MaxLaunchesPerRun: d.MaxLaunchesPerRun, LaunchTimeout: d.LaunchTimeout, Cooldown: d.Cooldown,
		OnDemandBase: d.OnDemandBase, OnDemandFallback: d.OnDemandFallback,
	}
}

// Describe observes the pools that were read, without a lock, and decides without acting.
// Where that is asked for, it says why.
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

// describe describes one pool; err is why there is no observation of its region.
func (k *kind) describe(ctx context.Context, t target, observed *regionObservation, err error, why bool) Description {
	d := t.declaration
	of := Description{Phase: t.phase}
	if why {
		of.Why = &Why{Declared: declared(d)}
	}
	if err == nil {
		err = sameAccount(d, observed.accountID)
	}
	if err != nil {
		of.Report = newReport(d, nil, loop.Ending{Became: outcome.Failed, Why: err})
		return of
	}
	for _, text := range append(observed.markets.warnings(d.Region, t.spot()), observed.warnings...) {
		k.warnings.Add(text)
	}
	observation := observed.pool(t)
	nodes := k.flow.observePoolNodes(ctx, d, t.journal.Value, observation, sharedMaxAge, true)
	if err := nodes.refuses(); err != nil {
		of.Report = newReport(d, nil, loop.Ending{Became: outcome.Failed, Why: err})
		return of
	}
	if nodes.remark != "" {
		k.warnings.Add(nodes.remark)
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
		// A creation is for terraform apply to go on with, and a deletion launches nothing.
		plan.Decisions, plan.Short, became = nil, nil, outcome.Skipped
	}
	shortSince := plan.Journal.ShortSince
	if !shortSince.IsZero() {
		shortSince = t.journal.Value.ShortSince
	}
	if why {
		of.Offerings, of.Standings = decide.Appraise(s, plan), decide.Standings(s, plan)
	}
	return Description{
		Report: newReport(d, &plan, loop.Ending{Became: became, Why: nodes.err}), Phase: t.phase, ShortSince: shortSince, Decisions: plan.Decisions,
		Machines: plan.Members, Cooldowns: plan.Journal.Cooldowns, Pending: len(plan.Journal.Pending), Why: of.Why,
	}
}
