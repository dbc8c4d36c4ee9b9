package status

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// failures are the errors of an object, and of whole runs.
type failures struct {
	object string               // empty for whole runs
	last   *declaration.Failing // of the last runs
	now    *outcome.ErrorReport // of this observation
	whole  *declaration.Failing // of whole runs
}

// addFailures adds the error of the last runs, the error of this observation unless it is
// the same or that of whole runs, and remedies.
func addFailures(d *describe.Details, clock terminal.Clock, f failures) {
	lines := len(d.Lines)
	if last := f.last; last != nil {
		d.Failure(terminal.Red, "failing: ", describe.LastRuns(clock, *last)+": "+last.Error.Message, last.Error.Remedy)
	}
	remedy := ""
	if f.last != nil {
		remedy = f.last.Error.Remedy
	}
	if now := f.now; now != nil && !same(*now, f.whole) && !same(*now, f.last) {
		d.Failure(terminal.Red, "failed: ", now.Message, now.Remedy)
		remedy += now.Remedy
	}
	if len(d.Lines) > lines && remedy == "" && f.object != "" {
		d.Remedy(describe.FixCause(f.object))
	}
}

// same reports whether an observation fails with the error of the last runs.
func same(now outcome.ErrorReport, last *declaration.Failing) bool {
	if last == nil {
		return false
	}
	kept := strings.TrimSuffix(last.Error.Message, "…") // a long message is cut
	return strings.HasPrefix(now.Message, kept) || now.Code != "" && now.Code == last.Error.Code
}

// addSkipped adds why the last runs skipped an object.
func addSkipped(d *describe.Details, clock terminal.Clock, last *declaration.Failing) {
	if last != nil {
		d.Add(terminal.Yellow, "skipped: ", describe.LastRuns(clock, *last)+": "+last.Error.Message)
	}
}
