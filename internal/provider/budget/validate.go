package budget

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// ValidateConfig judges what is known. Where a value is unknown, everything that
// is said about it, or about what contains it, is left to a later call.
func (r *budgetResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	problems := problem.Decided(m.problems(), req.Config.Raw, nil)
	problem.Report(&resp.Diagnostics, problems, diag.SeverityError)
	if len(problems) == 0 && req.Config.Raw.IsFullyKnown() {
		problem.Report(&resp.Diagnostics, problemsOf(m.declaration().WithDefaults().Warnings()), diag.SeverityWarning)
	}
}

// problems are everything that is wrong with a configuration. What is said of the
// window, the period and the zone depends on all three.
func (m model) problems() []problem.Problem {
	problems := problemsOf(m.declaration().WithDefaults().Validate())
	if m.Window.IsUnknown() || m.Period.IsUnknown() || m.TimeZone.IsUnknown() {
		together := []string{"window", "period", "time_zone"}
		problems = slices.DeleteFunc(problems, func(p problem.Problem) bool { return slices.Contains(together, p.Attribute) })
	}
	// A zero that was written is not one that was left out.
	if most := values.FieldsOf(m.Enforcement).Number("max_evictions_per_run"); !most.IsNull() && !most.IsUnknown() && most.ValueInt64() == 0 {
		problems = append(problems, problem.Problem{
			Attribute: "enforcement.max_evictions_per_run",
			Summary:   fmt.Sprintf("0 is out of range: it must be between 1 and %d", core.MaxEvictions),
			Detail:    "Use the action freeze or alert_only to have nothing evicted.",
		})
	}
	return problems
}

func problemsOf(problems []core.Problem) []problem.Problem {
	all := make([]problem.Problem, len(problems))
	for n, p := range problems {
		all[n] = problem.Problem(p)
	}
	return all
}
