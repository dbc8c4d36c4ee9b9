// Package problem reports problems of a declaration, or of the provider's arguments, at the
// right attribute. It converts paths of the core, such as offerings[1].spot_max_price or
// tags["team"], to the framework's.
package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	core "github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Problem is something wrong, or doubtful, in a declaration.
type Problem = core.Problem

// List gathers problems.
type List = core.List

// words writes the reasons of problems.
var words reason.Renderer

// Report converts problems to diagnostics at their attributes. If a problem is inside an
// attribute, the summary has the whole path: Terraform shows only the outermost attribute.
func Report(diags *diag.Diagnostics, problems []Problem, severity diag.Severity) {
	for _, p := range problems {
		at, text, detail := pathOf(p.Attribute), words.Text(p.Reason), words.Remedy(p.Reason)
		summary := wording.Capital(text)
		if len(stepsOf(p.Attribute)) > 1 {
			summary = p.Attribute + ": " + text
		}
		if severity == diag.SeverityError {
			diags.AddAttributeError(at, summary, detail)
		} else {
			diags.AddAttributeWarning(at, summary, detail)
		}
	}
}

// Decided omits problems of unknown values, and of attributes for which unread has errors
// already. A null element replaces any other problem of it: the core cannot distinguish it from
// an empty one.
func Decided(problems []Problem, raw tftypes.Value, unread diag.Diagnostics) []Problem {
	decided := NullElements(raw)
	null := func(p Problem) bool {
		return slices.ContainsFunc(decided, func(n Problem) bool { return strings.HasPrefix(p.Attribute, n.Attribute) })
	}
	return append(decided, slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool {
		return null(p) || !whole(raw, p.Attribute) || reported(unread, pathOf(p.Attribute))
	})...)
}

// NullElements returns the null elements of lists and maps. A null attribute is an omitted one.
// A null element would be read as an empty one, such as a label without a value, and the next
// plan would differ.
func NullElements(raw tftypes.Value) []Problem {
	var problems []Problem
	_ = tftypes.Walk(raw, func(at *tftypes.AttributePath, v tftypes.Value) (bool, error) { // fails only if this does
		if _, named := at.LastStep().(tftypes.AttributeName); v.IsNull() && !named && at.LastStep() != nil {
			problems = append(problems, Problem{Attribute: attributeOf(at.Steps()), Reason: reason.NullElement()})
		}
		return true, nil
	})
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Attribute, b.Attribute) })
	return problems
}

func reported(diags diag.Diagnostics, at path.Path) bool {
	for _, d := range diags {
		if with, ok := d.(diag.DiagnosticWithPath); ok && with.Path().Equal(at) {
			return true
		}
	}
	return false
}

// stepsOf splits a path such as offerings[1].spot_max_price or tags["team"].
func stepsOf(attribute string) []tftypes.AttributePathStep {
	var steps []tftypes.AttributePathStep
	for rest := attribute; rest != ""; {
		if inside, ok := strings.CutPrefix(rest, "["); ok {
			if key, err := strconv.QuotedPrefix(inside); err == nil {
				name, _ := strconv.Unquote(key)
				steps = append(steps, tftypes.ElementKeyString(name))
				rest = strings.TrimPrefix(inside[len(key):], "]")
				continue
			}
			digits, after, _ := strings.Cut(inside, "]")
			n, _ := strconv.Atoi(digits)
			steps = append(steps, tftypes.ElementKeyInt(n))
			rest = after
			continue
		}
		rest = strings.TrimPrefix(rest, ".")
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		steps = append(steps, tftypes.AttributeName(rest[:end]))
		rest = rest[end:]
	}
	return steps
}

func attributeOf(steps []tftypes.AttributePathStep) string {
	var attribute string
	for _, s := range steps {
		switch s := s.(type) {
		case tftypes.AttributeName:
			attribute += "." + string(s)
		case tftypes.ElementKeyInt:
			attribute += fmt.Sprintf("[%d]", int(s))
		case tftypes.ElementKeyString:
			attribute += fmt.Sprintf("[%q]", string(s))
		}
	}
	return strings.TrimPrefix(attribute, ".")
}

// pathOf is a problem's path as the framework's type.
func pathOf(attribute string) path.Path {
	p := path.Empty()
	for _, s := range stepsOf(attribute) {
		switch s := s.(type) {
		case tftypes.AttributeName:
			p = p.AtName(string(s))
		case tftypes.ElementKeyInt:
			p = p.AtListIndex(int(s))
		case tftypes.ElementKeyString:
			p = p.AtMapKey(string(s))
		}
	}
	return p
}

// whole reports whether nothing at the attribute, in it, or above it is unknown.
func whole(raw tftypes.Value, attribute string) bool {
	value := raw
	for _, s := range stepsOf(attribute) {
		if !value.IsKnown() {
			return false
		}
		next, err := value.ApplyTerraform5AttributePathStep(s)
		v, ok := next.(tftypes.Value)
		if err != nil || !ok {
			break // null further up, so that nothing here can be unknown
		}
		value = v
	}
	return value.IsFullyKnown()
}
