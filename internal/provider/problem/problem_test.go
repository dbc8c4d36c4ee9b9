package problem_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func TestProblemsAreReportedAtTheirAttribute(t *testing.T) {
	t.Parallel()
	for attribute, want := range map[string]string{
		"minimum": "minimum", "offerings[1].spot_max_price": "offerings[1].spot_max_price", "refresh.strategy": "refresh.strategy",
		`tags["a.b[c]"]`: `tags["a.b[c]"]`, "security_group_ids[0]": "security_group_ids[0]",
	} {
		var diags diag.Diagnostics
		problem.Report(&diags, []problem.Problem{{Attribute: attribute, Reason: reason.EmptyWriteOnly()}}, diag.SeverityError)
		if at, ok := diags[0].(diag.DiagnosticWithPath); !ok || at.Path().String() != want {
			t.Errorf("a problem of %s is reported at %v", attribute, diags[0])
		}
	}
}

// Unknown and unreadable values are not judged.
func TestOnlyWhatIsKnownIsJudged(t *testing.T) {
	t.Parallel()
	labels := tftypes.Map{ElementType: tftypes.String}
	list := tftypes.List{ElementType: tftypes.String}
	of := tftypes.Object{AttributeTypes: map[string]tftypes.Type{
		"labels": labels, "names": list, "hours": tftypes.String, "later": tftypes.String, "none": labels,
	}}
	raw := tftypes.NewValue(of, map[string]tftypes.Value{
		"labels": tftypes.NewValue(labels, map[string]tftypes.Value{
			"known": tftypes.NewValue(tftypes.String, "a"), "unknown": tftypes.NewValue(tftypes.String, tftypes.UnknownValue),
		}),
		"names": tftypes.NewValue(list, tftypes.UnknownValue),
		"hours": tftypes.NewValue(tftypes.String, "x"),
		"later": tftypes.NewValue(tftypes.String, tftypes.UnknownValue),
		"none":  tftypes.NewValue(labels, nil),
	})
	var unread diag.Diagnostics
	unread.AddAttributeError(path.Root("hours"), "Not a number", "x is none.")
	var problems []problem.Problem
	for _, attribute := range []string{"labels", `labels["known"]`, `labels["unknown"]`, "names", "names[0]", "hours", "later", "none", `none["a"]`} {
		problems = append(problems, problem.Problem{Attribute: attribute})
	}
	var got []string
	for _, p := range problem.Decided(problems, raw, unread) {
		got = append(got, p.Attribute)
	}
	if diff := cmp.Diff([]string{`labels["known"]`, "none", `none["a"]`}, got); diff != "" {
		t.Error(diff)
	}
}

// A null element is reported once, and not as an empty one.
func TestNullElements(t *testing.T) {
	t.Parallel()
	labels := tftypes.Map{ElementType: tftypes.String}
	pair := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"key": tftypes.String, "values": tftypes.List{ElementType: tftypes.String}}}
	of := tftypes.Object{AttributeTypes: map[string]tftypes.Type{
		"labels": labels, "pairs": tftypes.List{ElementType: pair}, "name": tftypes.String, "none": labels,
	}}
	raw := tftypes.NewValue(of, map[string]tftypes.Value{
		"labels": tftypes.NewValue(labels, map[string]tftypes.Value{
			"a": tftypes.NewValue(tftypes.String, "x"), "b": tftypes.NewValue(tftypes.String, nil), "c.d": tftypes.NewValue(tftypes.String, nil),
			"e.f[g]": tftypes.NewValue(tftypes.String, nil),
		}),
		"pairs": tftypes.NewValue(tftypes.List{ElementType: pair}, []tftypes.Value{
			tftypes.NewValue(pair, nil),
			tftypes.NewValue(pair, map[string]tftypes.Value{
				"key":    tftypes.NewValue(tftypes.String, nil),
				"values": tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, []tftypes.Value{tftypes.NewValue(tftypes.String, nil)}),
			}),
		}),
		"name": tftypes.NewValue(tftypes.String, nil),
		"none": tftypes.NewValue(labels, nil),
	})
	empty := reason.Unexplained("empty")
	said := []problem.Problem{
		{Attribute: `labels["a"]`, Reason: empty}, {Attribute: `labels["b"]`, Reason: empty}, {Attribute: "pairs[0].key", Reason: empty},
		{Attribute: "pairs[1].key", Reason: empty}, {Attribute: "name", Reason: empty},
	}
	var got []string
	for _, p := range problem.Decided(said, raw, nil) {
		got = append(got, p.Attribute+": "+reason.Renderer{}.Text(p.Reason))
	}
	if diff := cmp.Diff([]string{
		`labels["b"]: the element is null`, `labels["c.d"]: the element is null`, `labels["e.f[g]"]: the element is null`, "pairs[0]: the element is null",
		"pairs[1].values[0]: the element is null",
		`labels["a"]: empty`, "pairs[1].key: empty", "name: empty",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReports(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	problem.Report(&diags, []problem.Problem{
		{Attribute: "offerings", Reason: reason.NoOffering()},
		{Attribute: "max_hourly_cost", Reason: reason.NegativeCost()},
		{Attribute: "disks[1].size", Reason: reason.NoOffering()},
	}, diag.SeverityError)
	problem.Report(&diags, []problem.Problem{{Attribute: "name", Reason: reason.NoOffering()}}, diag.SeverityWarning)
	if len(diags) != 4 || diags[0].Summary() != "The pool has no offering" || diags[1].Summary() != "max_hourly_cost is below 0" ||
		diags[2].Summary() != "disks[1].size: the pool has no offering" || diags[3].Severity() != diag.SeverityWarning {
		t.Errorf("reported %v", diags)
	}
	if with, ok := diags[0].(diag.DiagnosticWithPath); !ok || with.Path().String() != "offerings" {
		t.Errorf("the first one is at %v", diags[0])
	}
}
