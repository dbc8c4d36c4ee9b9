package spotpool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// tellLaunches says in a warning what the creation of a pool would do on the market
// of now, as a dry run says it. It is no planned value, since the market moves. It
// reports whether that is known; where the pool's budget or an unknown market
// prevents it, another warning says so.
func (r *poolResource) tellLaunches(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) bool {
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
		diags.AddWarning("Spot pool "+d.Key()+" can't be created as things are", exists.Error())
		return true
	}
	if err != nil || plan.Gate.Closed {
		return false
	}
	if text := launches(plan); text != "" {
		diags.AddWarning("Spot pool "+d.Key()+" on the market of now", text)
	}
	return true
}

// launches says what a plan launches and where, and why it is no more; nothing for a
// pool that wants no instance.
func launches(plan decide.Plan) string {
	lines := slices.Clone(plan.Messages) // of a creation that is resumed
	if len(plan.Decisions) > 0 {
		lines = append(lines, "On the market of now an apply would:")
	}
	missing := plan.Shortfall
	for _, decision := range plan.Decisions {
		lines = append(lines, "- "+decision.String())
		missing -= decision.Count
	}
	switch {
	case missing > 0 && len(plan.Decisions) == 0:
		lines = append(lines, "On the market of now nothing can be launched:")
	case missing > 0:
		lines = append(lines, "It would stay short by "+instances(missing)+":")
	case len(lines) == 0:
		return ""
	}
	if missing > 0 {
		for _, why := range plan.Short.Brief() {
			lines = append(lines, "- "+why)
		}
	}
	return strings.Join(append(lines, "Prices and stock move: the apply looks again before it launches."), "\n")
}
