package status

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// failures are the errors of an object, and of whole runs.
type failures struct {
	object string               // empty for whole runs
	last   *declaration.Failing // of the last runs
	now    *outcome.ErrorReport // of this observation
	whole  *declaration.Failing // of whole runs
	// several says that these are the errors of several objects, and not of the object.
	several bool
}

// lines are the errors and their remedies.
func (f failures) lines(v layout, clock terminal.Clock) []string {
	details := v.details()
	addFailures(details, clock, f)
	return clock.Texts(details.Lines)
}

// Section is what there is to say about an object. Objects that fail alike have a section together.
type Section struct {
	Objects []string
	Lines   []string
	titles  []string
}

// sections returns the sections of entries, in their order. One that several objects share is before those of the first.
func sections(v layout, clock terminal.Clock, entries []entry) (list []Section) {
	causes, alike := make([]string, len(entries)), map[string]Section{}
	for n, e := range entries {
		failed := e.failures
		failed.object, failed.several = "", true
		lines := failed.lines(v, clock)
		causes[n] = describe.Alike(lines)
		shared, is := alike[causes[n]]
		if !is {
			shared.Lines = lines
		}
		shared.Objects, shared.titles = append(shared.Objects, e.object), append(shared.titles, e.title)
		alike[causes[n]] = shared
	}
	for n, e := range entries {
		lines := e.lines
		switch shared := alike[causes[n]]; {
		case causes[n] == "":
		case len(shared.Objects) == 1:
			lines = append(e.failures.lines(v, clock), lines...)
		case shared.Objects[0] == e.object:
			list = append(list, shared)
		}
		if len(lines) > 0 {
			list = append(list, Section{Objects: []string{e.object}, Lines: lines, titles: []string{e.title}})
		}
	}
	return list
}

// addFailures adds the error of the last runs, the error of this observation unless it is
// the same or that of whole runs, and remedies.
func addFailures(d *describe.Details, clock terminal.Clock, f failures) {
	lines := len(d.Lines)
	d.Failing(clock, f.last)
	remedy := ""
	if f.last != nil {
		remedy = f.last.Error.Remedy
	}
	if now := f.now; now != nil && !same(*now, f.whole) && !same(*now, f.last) {
		d.Failure(terminal.Red, "failed: ", now.Message, now.Remedy)
		remedy += now.Remedy
	}
	if len(d.Lines) > lines && remedy == "" && (f.object != "" || f.several) {
		d.Remedy(fixCause(f.object).String())
	}
}

// fixCause is the remedy of an error that has no other. Without an object, it is that of several.
func fixCause(object string) reason.Reason {
	if object == "" {
		return reason.FixCauses()
	}
	return reason.FixCause(reason.Object(object))
}

// same reports whether an observation fails with the error of the last runs.
func same(now outcome.ErrorReport, last *declaration.Failing) bool {
	if last == nil {
		return false
	}
	kept := strings.TrimSuffix(last.Error.Message, "…") // a long message is cut
	return strings.HasPrefix(now.Message, kept) || now.Code != "" && now.Code == last.Error.Code
}
