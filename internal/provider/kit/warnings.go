package kit

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Moment is when warnings about an object are printed: reason.ObjectObserved, reason.ObjectPlanned or reason.ObjectApplied.
type Moment func(title, key reason.Word, warnings reason.Paragraphs) reason.Reason

// Warn gives all warnings about an object, such as "budget/team-a", at a moment as one.
func Warn(diags *diag.Diagnostics, at Moment, object string, warnings reason.Reasons) {
	if len(warnings) > 0 {
		kind, key, _ := strings.Cut(object, "/")
		title := reason.Word(strings.ReplaceAll(kind, "_", " "))
		diags.Append(problem.Warning(path.Empty(), at(title, reason.Word(key), reason.Paragraphs(warnings))))
	}
}

// Warn gives all warnings about an object of the resource at a moment as one.
func (r *Resource[M, D, S, F]) Warn(diags *diag.Diagnostics, m M, at Moment, warnings reason.Reasons) {
	Warn(diags, at, r.Kind.Declaration(m, &diag.Diagnostics{}).Object(), warnings)
}
