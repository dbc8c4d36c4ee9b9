package stockpool

import (
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// problems returns the problems of a configuration. It omits checks that need a value which is
// unknown.
func (m model) problems(diags *diag.Diagnostics) []problem.Problem {
	problem.WriteOnly(diags, "env", types.MapNull(types.StringType), m.EnvWO, m.EnvVersion)
	depends := map[string][]attr.Value{
		"maximum":                             {m.ReplicasPolicy, m.Replicas},
		"allocated_selector":                  {m.ReplicasPolicy, m.Labels, m.SpecName, m.Name},
		"pod_disruption_budget.min_available": {m.ReplicasPolicy, m.Replicas, m.Maximum},
	}
	return slices.DeleteFunc(m.declaration().Validate(), func(p problem.Problem) bool {
		return slices.ContainsFunc(depends[p.Attribute], attr.Value.IsUnknown) || !attribute.AllKnown(m.Ports) && onePort.MatchString(p.Attribute)
	})
}

// onePort matches the path of one port.
var onePort = regexp.MustCompile(`^ports\[\d+\]$`)

func warnOfDoubts(d core.Declaration, diags *diag.Diagnostics) {
	problem.Report(diags, d.Warnings(), diag.SeverityWarning)
}
