package notification

import (
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// problems returns the problems of a configuration. None quotes a write-only value. Rules that
// depend on the type are omitted while it is unknown.
func (m model) problems(diags *diag.Diagnostics) []problem.Problem {
	problem.WriteOnly(diags, "url", types.StringNull(), m.URL, m.URLVersion)
	problem.WriteOnly(diags, "secret", types.StringNull(), m.Secret, m.SecretVersion)
	d := m.declaration()
	var found problem.List
	for _, w := range []struct {
		name     string
		value    types.String
		version  types.Int64
		declared *int64
	}{
		{name: "url_wo", value: m.URL, version: m.URLVersion, declared: &d.URLVersion},
		{name: "secret_wo", value: m.Secret, version: m.SecretVersion, declared: &d.SecretVersion},
	} {
		if !w.version.IsNull() && !w.version.IsUnknown() && w.version.ValueInt64() == 0 {
			found.Add(w.name+"_version", reason.InvalidVersion(0, reason.Word(w.name)))
		}
		if !w.value.IsNull() && !w.value.IsUnknown() && w.value.ValueString() == "" {
			found.Add(w.name, reason.EmptyWriteOnly())
		}
		if !w.value.IsNull() && *w.declared == 0 {
			*w.declared = 1 // if it is missing, WriteOnly reports it
		}
	}
	problem.Percents(&found, "thresholds", m.Thresholds, reason.AlertFraction)
	return append(found, slices.DeleteFunc(d.Validate(time.LoadLocation), func(p problem.Problem) bool {
		return m.Type.IsUnknown() && slices.Contains([]string{"url_wo", "secret_wo", "digest"}, p.Attribute)
	})...)
}
