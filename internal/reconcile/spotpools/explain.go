package spotpools

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Explanation is a pool's overview with all that its decisions follow from.
type Explanation struct {
	Overview
	Declared Declared `json:"declared"`
	// Offerings are what there is to say of each, and Standings what each instance
	// counts as.
	Offerings []spotpool.Appraisal `json:"offerings"`
	Standings []spotpool.Standing  `json:"standings"`
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

// Explain observes those pools of the store whose names fit, without a lock, and
// decides without acting. Its warnings go to warnings.
func (f *Flow) Explain(ctx context.Context, fits func(object string) bool, warnings *outcome.Warnings) ([]Explanation, error) {
	r := f.Run(Options{}, warnings)
	if err := r.Read(ctx); err != nil {
		return nil, err
	}
	list := []Explanation{}
	for _, broken := range r.reports {
		if fits("spot_pool/" + broken.Region + "/" + broken.Name) {
			list = append(list, Explanation{Overview: Overview{Report: broken}})
		}
	}
	wanted := slices.DeleteFunc(r.targets, func(t target) bool { return !fits(t.declaration.Object()) })
	for region, targets := range byRegion(wanted) {
		view, err := f.lookFor(ctx, region, targets)
		for _, t := range targets {
			list = append(list, r.explain(ctx, t, view, err))
		}
	}
	slices.SortFunc(list, func(a, b Explanation) int { return strings.Compare(a.Region+"/"+a.Name, b.Region+"/"+b.Name) })
	return list, nil
}

func (r *Run) explain(ctx context.Context, t target, view *regionView, err error) Explanation {
	overview, by := r.overviewOf(ctx, t, view, err)
	e := Explanation{Overview: overview, Declared: declared(t.declaration)}
	if by == nil {
		return e
	}
	plan := by.plan
	e.Offerings = spotpool.Appraise(by.situation, plan)
	e.Standings = spotpool.Standings(by.situation, plan)
	return e
}
