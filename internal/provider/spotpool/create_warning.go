package spotpool

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// warnOfLaunches warns of what the creation of a pool would do on the current market, as a dry
// run prints it. It is not a planned value, since the market changes. It reports whether that
// is known; if a budget or an unknown market prevents it, another warning says so.
//
// Terraform shows one of all warnings with a headline, and counts the others. So pools that
// reach their minimum share one headline in their region.
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
		diags.AddWarning("Spot pool "+d.Key()+" exists already", "If this plan replaces it, it is destroyed first. Otherwise the apply is refused: "+
			exists.Error()+".")
		return true
	}
	if err != nil || plan.Gate.Closed {
		return false
	}
	switch text, short := launches(plan); {
	case text == "":
	case short:
		diags.AddWarning("Spot pool "+d.Key()+" on the market at plan time", text)
	default:
		diags.AddWarning("New spot pools of "+d.Region+" on the market at plan time", "Spot pool "+d.Key()+"\n\n"+text)
	}
	return true
}

// launches says what a plan launches and where, and why it is not more; nothing if no instances
// are desired. short says that it is less than the minimum.
func launches(plan decide.Plan) (text string, short bool) {
	lines := plan.Messages.Texts() // of a resumed creation
	if len(plan.Decisions) > 0 {
		lines = append(lines, "On the market at plan time, an apply would:")
	}
	missing := plan.Shortfall
	for _, decision := range plan.Decisions {
		lines = append(lines, "- "+decision.String())
		missing -= decision.Count
	}
	switch {
	case missing > 0 && len(plan.Decisions) == 0:
		lines = append(lines, "On the market at plan time, nothing could be launched:")
	case missing > 0:
		lines = append(lines, "It would stay short by "+instances(missing)+":")
	case len(lines) == 0:
		return "", false
	}
	if missing > 0 {
		for _, why := range plan.Short.Brief() {
			lines = append(lines, "- "+why)
		}
	}
	return strings.Join(append(lines, "Prices and stock change: the apply checks them again before it launches."), "\n"), missing > 0
}
