package kit

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
)

// Moment is what warnings about an object go by.
type Moment string

// Each operation has its own headlines: of several warnings with one headline, Terraform shows
// the first and counts the others. That would hide the result of an apply.
const (
	Observed Moment = ""
	Planned  Moment = " in this plan"
	Applied  Moment = " after the apply"
)

// Warn gives all warnings about an object at a moment as one.
func (r *Resource[M, D, S, F]) Warn(diags *diag.Diagnostics, m M, at Moment, warnings []string) {
	if len(warnings) > 0 {
		title, key := r.Kind.Title, r.Kind.Declaration(m, &diag.Diagnostics{}).Key()
		diags.AddWarning(connection.Capital(title)+" "+key+string(at), strings.Join(warnings, "\n\n"))
	}
}
