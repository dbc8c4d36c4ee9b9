package spotpool

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// problems returns everything wrong with a configuration. If the region is omitted, the plan
// checks it.
func (m model) problems(diags *diag.Diagnostics) []problem.Problem {
	d := m.declaration(diags)
	problem.WriteOnly(diags, "user_data_raw", m.UserData, m.UserDataWO, m.UserDataVersion)
	if !m.Region.IsNull() && !m.Region.IsUnknown() {
		return d.Validate()
	}
	d.Region = regionOfZones(d.Offerings)
	return slices.DeleteFunc(d.Validate(), func(p problem.Problem) bool { return p.Attribute == "region" })
}

// regionOfZones returns the region of the known zones. A validation does not know the
// provider's region.
func regionOfZones(offerings []core.Offering) string {
	zones := make([]string, len(offerings))
	for n, o := range offerings {
		zones[n] = o.AvailabilityZone
	}
	return core.RegionOfZones(zones)
}
