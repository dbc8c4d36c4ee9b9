package spotpool

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// warn warns of what was observed of a pool and of its region's market.
func (r *poolResource) warn(diags *diag.Diagnostics, m model, at kit.Moment, s spotpools.State) {
	r.Warn(diags, m, at, s.Warnings)
	warnOfShortage(diags, reason.ShortApplied, s.Declaration, s.Plan.Short.Cause(), s.Short)
	if len(s.MarketDoubts) > 0 {
		diags.Append(problem.Warning(path.Empty(), reason.MarketDoubts(reason.Word(s.Declaration.Region), reason.Paragraphs(s.MarketDoubts))))
	}
}

// warnOfPlan warns of what a plan shows, and of a shortage with the headline of its cause.
func (r *poolResource) warnOfPlan(diags *diag.Diagnostics, m model, p preview) {
	r.Warn(diags, m, reason.ObjectPlanned, p.warnings)
	warnOfShortage(diags, reason.ShortPlanned, m.declaration(&diag.Diagnostics{}), p.cause, p.short)
}

// warnOfShortage warns of a pool below its minimum, if it is. All pools of a region that are short for the same cause have
// the same headline, so that Terraform shows one of them.
func warnOfShortage(diags *diag.Diagnostics, headline func(region, cause, pool reason.Word, details reason.Paragraphs) reason.Reason,
	d core.Declaration, cause reason.Word, short reason.Reason) {
	if !short.IsZero() {
		diags.Append(problem.Warning(path.Empty(), headline(reason.Word(d.Region), cause, reason.Word(d.Key()), reason.Paragraphs{short})))
	}
}
