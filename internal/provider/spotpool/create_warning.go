package spotpool

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// warnOfLaunches warns of what the creation of a pool would do on the current market, as a dry
// run prints it. It is not a planned value, since the market changes. It reports whether that
// is known; if a budget or an unknown market prevents it, another warning says so.
//
// Terraform shows one of all warnings with a headline, and counts the others. So pools that
// reach their minimum share one headline in their region, as do those that are short for the same cause.
func (r *poolResource) warnOfLaunches(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) bool {
	if !r.Connection.Ready() || d.Region == "" {
		return false
	}
	reader, err := r.Connection.ReadSpotPools(ctx)
	if err != nil {
		return false
	}
	plan, err := reader.Preview(ctx, d)
	var exists *record.ExistsError
	if errors.As(err, &exists) {
		r.WarnIfTaken(d, err, diags)
		return true
	}
	if err != nil || plan.Gate.Closed {
		return false
	}
	if details := launches(plan); len(details) > 0 {
		region, pool := reason.Word(d.Region), reason.Word(d.Key())
		why := reason.LaunchesPlanned(region, pool, details)
		if len(plan.Short) > 0 && launched(plan) < plan.Shortfall {
			why = reason.ShortOnMarket(region, plan.Short.Cause(), pool, details)
		}
		diags.Append(problem.Warning(path.Empty(), why))
	}
	return true
}

// launched counts the instances that a plan launches.
func launched(plan decide.Plan) (count int) {
	for _, decision := range plan.Decisions {
		count += decision.Count
	}
	return count
}

// launches says what a plan launches and where, and why it is not more; nothing if no instances
// are desired.
func launches(plan decide.Plan) reason.Paragraphs {
	details := slices.Clone(reason.Paragraphs(plan.Messages)) // of a resumed creation
	decisions, why := make(reason.Lines, len(plan.Decisions)), reason.Lines(plan.Short.Brief())
	for n, decision := range plan.Decisions {
		decisions[n] = reason.NextChange(reason.Text(decision.Summary()), decision.Reasons)
	}
	switch missing := plan.Shortfall - launched(plan); {
	case missing > 0 && len(decisions) == 0:
		return append(details, reason.WouldLaunchNone(why))
	case missing > 0:
		return append(details, reason.WouldLack(decisions, reason.Count(missing), why))
	case len(decisions) > 0:
		return append(details, reason.WouldLaunch(decisions))
	}
	return details
}
