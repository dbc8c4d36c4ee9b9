package spotpool

import (
	"context"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// ValidateConfig judges what is known. Where a value is unknown, everything that
// is said about it, or about what contains it, is left to a later call.
func (r *poolResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration(&resp.Diagnostics)
	regionGiven := !m.Region.IsNull() && !m.Region.IsUnknown()
	if !regionGiven {
		d.Region = regionOfZones(d.Offerings)
	}
	unread := resp.Diagnostics.Errors()
	var problems []core.Problem
	for _, p := range d.Validate() {
		at := pathOf(p.Attribute)
		switch {
		case p.Attribute == "region" && !regionGiven:
		case !wholeAt(req.Config.Raw, p.Attribute):
		case reported(unread, at):
		default:
			problems = append(problems, p)
		}
	}
	report(&resp.Diagnostics, problems, diag.SeverityError)
	if !resp.Diagnostics.HasError() && req.Config.Raw.IsFullyKnown() {
		report(&resp.Diagnostics, d.Warnings(), diag.SeverityWarning)
	}
}

// regionOfZones is the region of the first zone that is known: "ap-singapore" of
// "ap-singapore-2". The provider's region is not known to a validation.
func regionOfZones(offerings []core.Offering) string {
	for _, o := range offerings {
		if n := strings.LastIndexByte(o.AvailabilityZone, '-'); n > 0 {
			return o.AvailabilityZone[:n]
		}
	}
	return ""
}

// report turns problems into diagnostics at their attributes.
func report(diags *diag.Diagnostics, problems []core.Problem, severity diag.Severity) {
	for _, p := range problems {
		at, summary, detail := pathOf(p.Attribute), upperFirst(p.Summary), p.Detail
		if severity == diag.SeverityError {
			diags.AddAttributeError(at, summary, detail)
		} else {
			diags.AddAttributeWarning(at, summary, detail)
		}
	}
}

func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	if word, _, _ := strings.Cut(s, " "); strings.Contains(word, "_") {
		return s // an attribute's name stays as it is written
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func reported(diags diag.Diagnostics, at path.Path) bool {
	for _, d := range diags {
		if with, ok := d.(diag.DiagnosticWithPath); ok && with.Path().Equal(at) {
			return true
		}
	}
	return false
}

// step is one part of a problem's path: a name, an index, or a map's key.
type step struct {
	name  string
	index int
	kind  byte // 'n', 'i' or 'k'
}

// stepsOf takes a path such as offerings[1].max_price or tags["team"] apart.
func stepsOf(attribute string) []step {
	var steps []step
	for rest := attribute; rest != ""; {
		if inside, ok := strings.CutPrefix(rest, "["); ok {
			if key, err := strconv.QuotedPrefix(inside); err == nil {
				name, _ := strconv.Unquote(key)
				steps = append(steps, step{kind: 'k', name: name})
				rest = strings.TrimPrefix(inside[len(key):], "]")
				continue
			}
			digits, after, _ := strings.Cut(inside, "]")
			n, _ := strconv.Atoi(digits)
			steps = append(steps, step{kind: 'i', index: n})
			rest = after
			continue
		}
		rest = strings.TrimPrefix(rest, ".")
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		steps = append(steps, step{kind: 'n', name: rest[:end]})
		rest = rest[end:]
	}
	return steps
}

// pathOf is a problem's path as the framework has it.
func pathOf(attribute string) path.Path {
	p := path.Empty()
	for _, s := range stepsOf(attribute) {
		switch s.kind {
		case 'n':
			p = p.AtName(s.name)
		case 'i':
			p = p.AtListIndex(s.index)
		case 'k':
			p = p.AtMapKey(s.name)
		}
	}
	return p
}

// wholeAt reports whether nothing unknown stands at the attribute, in it, or
// above it.
func wholeAt(raw tftypes.Value, attribute string) bool {
	value := raw
	for _, s := range stepsOf(attribute) {
		if !value.IsKnown() {
			return false
		}
		var next any
		var err error
		switch s.kind {
		case 'n':
			next, err = value.ApplyTerraform5AttributePathStep(tftypes.AttributeName(s.name))
		case 'i':
			next, err = value.ApplyTerraform5AttributePathStep(tftypes.ElementKeyInt(s.index))
		case 'k':
			next, err = value.ApplyTerraform5AttributePathStep(tftypes.ElementKeyString(s.name))
		}
		v, ok := next.(tftypes.Value)
		if err != nil || !ok {
			break // null further up: nothing is there to be unknown
		}
		value = v
	}
	return value.IsFullyKnown()
}
