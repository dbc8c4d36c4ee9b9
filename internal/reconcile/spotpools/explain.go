package spotpools

import (
	"context"

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
	r := f.run(Options{}, warnings, func(key string) bool { return fits("spot_pool/" + key) })
	if err := r.Read(ctx); err != nil {
		return nil, err
	}
	list := []Explanation{}
	r.each(ctx, func(o Overview, t target, by *decided) {
		e := Explanation{Overview: o}
		if t.phase != "" {
			e.Declared = declared(t.declaration)
		}
		if by != nil {
			e.Offerings, e.Standings = spotpool.Appraise(by.situation, by.plan), spotpool.Standings(by.situation, by.plan)
		}
		list = append(list, e)
	})
	return list, nil
}
