package budget

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
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
	problems := append(m.problems(), timeouts.Problems(m.Timeouts, defaultTimeout)...)
	problem.Report(&resp.Diagnostics, problem.Decided(problems, req.Config.Raw, nil), diag.SeverityError)
}

// warnOfDoubts tells of what is allowed and probably not meant. It is for plans: a
// validation comes before a destruction, too, where none of it matters any more.
func warnOfDoubts(d core.Declaration, diags *diag.Diagnostics) {
	problem.Report(diags, d.WithDefaults().Warnings(), diag.SeverityWarning)
}

// problems are everything that is wrong with a configuration. What is said of the
// window, the period and the zone depends on all three.
func (m model) problems() []problem.Problem {
	problems := m.declaration().Validate()
	if m.Window.IsUnknown() || m.Period.IsUnknown() || m.TimeZone.IsUnknown() {
		together := []string{"window", "period", "time_zone"}
		problems = slices.DeleteFunc(problems, func(p problem.Problem) bool { return slices.Contains(together, p.Attribute) })
	}
	return m.evictions(m.thresholds(problems))
}

// thresholds puts what is not whole in the place of what was said of the numbers
// without their fractions.
func (m model) thresholds(problems []problem.Problem) []problem.Problem {
	var broken []problem.Problem
	for n, element := range m.Thresholds.Elements() {
		percent, _ := element.(types.Number)
		if _, whole := values.Whole(percent); !whole {
			broken = append(broken, problem.Problem{
				Attribute: fmt.Sprintf("thresholds[%d]", n),
				Summary:   values.Digits(percent) + " is no whole percent",
				Detail:    fmt.Sprintf("Write percents of the limit from 1 to %d, without a fraction.", core.MaxThreshold),
			})
		}
	}
	if len(broken) == 0 {
		return problems
	}
	return append(slices.DeleteFunc(problems, func(p problem.Problem) bool { return strings.HasPrefix(p.Attribute, "thresholds") }), broken...)
}

// evictions puts a number that is not whole in the place of what was said of it
// without its fraction.
func (m model) evictions(problems []problem.Problem) []problem.Problem {
	const attribute = "enforcement.max_evictions_per_run"
	most := values.FieldsOf(m.Enforcement).AnyNumber("max_evictions_per_run")
	if _, whole := values.Whole(most); whole {
		return problems
	}
	return append(slices.DeleteFunc(problems, func(p problem.Problem) bool { return p.Attribute == attribute }), problem.Problem{
		Attribute: attribute,
		Summary:   values.Digits(most) + " is no whole number of pods",
		Detail:    fmt.Sprintf("Write a number from 1 to %d, or leave it out for %d.", core.MaxEvictions, core.DefaultMaxEvictionsPerRun),
	})
}
