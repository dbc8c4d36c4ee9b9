package budget

import (
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// warnOfDoubts warns of values that are valid and probably not intended. Plans call it. A
// validation does not, since it also precedes a destruction.
func warnOfDoubts(d core.Declaration, diags *diag.Diagnostics) {
	problem.Report(diags, d.WithDefaults().Warnings(), diag.SeverityWarning)
}

// problems returns all problems of a configuration. Those of window, period and time_zone depend
// on all three.
func (m model) problems(*diag.Diagnostics) []problem.Problem {
	var problems problem.List = m.declaration().Validate(time.LoadLocation)
	if m.Window.IsUnknown() || m.Period.IsUnknown() || m.TimeZone.IsUnknown() {
		together := []string{"window", "period", "time_zone"}
		problems = slices.DeleteFunc(problems, func(p problem.Problem) bool { return slices.Contains(together, p.Attribute) })
	}
	problem.Percents(&problems, "thresholds", m.Thresholds, func(percent reason.Value) reason.Reason {
		return reason.ThresholdFraction(percent, core.MaxThreshold)
	})
	return m.evictions(problems)
}

// evictions adds a number of evictions that is not whole.
func (m model) evictions(problems problem.List) problem.List {
	most := values.FieldsOf(m.Enforcement).AnyNumber("max_evictions_per_run")
	if _, whole := values.Whole(most); !whole {
		problems.Add("enforcement.max_evictions_per_run", reason.EvictionsFraction(
			reason.NewValue(values.Digits(most)), core.MaxEvictions, reason.Count(defaults.Enforce.MaxEvictionsPerRun),
		))
	}
	return problems
}
