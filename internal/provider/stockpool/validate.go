package stockpool

import (
	"context"
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// ValidateConfig checks the values that are known. Problems of an unknown value, or of
// what contains one, are left to a later call.
func (r *stockResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	problems := append(m.problems(ctx), timeouts.Problems(m.Timeouts, defaultTimeout)...)
	problem.Report(&resp.Diagnostics, problem.Decided(problems, req.Config.Raw, nil), diag.SeverityError)
}

// problems are everything wrong with a configuration, but for what depends on several
// values of which one is unknown.
func (m model) problems(ctx context.Context) []problem.Problem {
	depends := map[string][]attr.Value{
		"maximum":                          {m.Keep, m.Replicas},
		"allocated_selector":               {m.Keep, m.Labels, m.SpecName, m.Name},
		"pod_disruption.minimum_available": {m.Keep, m.Replicas, m.Maximum},
	}
	ports, err := m.Ports.ToTerraformValue(ctx)
	portsKnown := err == nil && ports.IsFullyKnown()
	return slices.DeleteFunc(m.declaration().Validate(), func(p problem.Problem) bool {
		return slices.ContainsFunc(depends[p.Attribute], attr.Value.IsUnknown) || !portsKnown && onePort.MatchString(p.Attribute)
	})
}

// onePort is where a problem stands of a port beside others.
var onePort = regexp.MustCompile(`^ports\[\d+\]$`)

// warnOfDoubts warns of what is allowed and probably not meant.
func warnOfDoubts(d core.Declaration, diags *diag.Diagnostics) {
	problem.Report(diags, d.Warnings(), diag.SeverityWarning)
}
