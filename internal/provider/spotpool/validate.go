package spotpool

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// ValidateConfig checks the values that are known. Problems of an unknown value, or
// of what contains one, are left to a later call.
func (r *poolResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration(&resp.Diagnostics)
	regionGiven := !m.Region.IsNull() && !m.Region.IsUnknown()
	if !regionGiven {
		d.Region = regionOfZones(d.Offerings)
	}
	problems := append(d.Validate(), timeouts.Problems(m.Timeouts, defaultTimeout)...)
	problems = problem.Decided(problems, req.Config.Raw, resp.Diagnostics.Errors())
	if !regionGiven {
		problems = slices.DeleteFunc(problems, func(p problem.Problem) bool { return p.Attribute == "region" })
	}
	problem.Report(&resp.Diagnostics, problems, diag.SeverityError)
	if !resp.Diagnostics.HasError() && req.Config.Raw.IsFullyKnown() {
		problem.Report(&resp.Diagnostics, d.Warnings(), diag.SeverityWarning)
	}
}

// regionOfZones is the region of the known zones. A validation does not know the
// provider's region.
func regionOfZones(offerings []core.Offering) string {
	zones := make([]string, len(offerings))
	for n, o := range offerings {
		zones[n] = o.AvailabilityZone
	}
	return core.RegionOfZones(zones)
}
