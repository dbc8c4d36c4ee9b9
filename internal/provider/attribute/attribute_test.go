package attribute_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

var sized = attribute.Form[int]{
	Parse: func(s string) (int, error) {
		if strings.Trim(s, "xX") != "" {
			return 0, errors.New("it is not made of x")
		}
		return len(s), nil
	},
	Write:   func(n int) types.String { return types.StringValue(strings.Repeat("x", n)) },
	Invalid: reason.NotAPrice,
}

func TestIntoADeclaration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		value types.String
		want  string
	}{
		"null": {types.StringNull(), "default"}, "unknown": {types.StringUnknown(), "default"},
		"empty": {types.StringValue(""), ""}, "a word": {types.StringValue("word"), "word"},
	} {
		got := "default"
		if attribute.Text(attribute.Into(nil), &test.value, &got); got != test.want {
			t.Errorf("%s is declared as %q, want %q", name, got, test.want)
		}
	}
	var diags diag.Diagnostics
	n, value := 7, types.StringValue("yyy")
	attribute.Parsed(attribute.Into(&diags), path.Root("size"), sized, &value, &n)
	if n != 7 || diags.ErrorsCount() != 1 || diags[0].Summary() != "Not a price" || diags[0].Detail() != "It is not made of x." {
		t.Errorf("what can't be read became %d, with %v", n, diags)
	}
}

func TestOutOfADeclaration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ value, want types.String }{
		"null":           {types.StringNull(), types.StringValue("xxx")},
		"unknown":        {types.StringUnknown(), types.StringValue("xxx")},
		"the same":       {types.StringValue("xXx"), types.StringValue("xXx")},
		"something else": {types.StringValue("xx"), types.StringValue("xxx")},
		"unreadable":     {types.StringValue("yyy"), types.StringValue("xxx")},
	} {
		n := 3
		if attribute.Parsed(attribute.OutOf(), path.Empty(), sized, &test.value, &n); !test.value.Equal(test.want) {
			t.Errorf("%s became %s, want %s", name, test.value, test.want)
		}
	}
}

// A value of a plan keeps its prior wording only if all of it is known. An unknown element may
// turn out to be another one.
func TestKeepingTheWording(t *testing.T) {
	t.Parallel()
	labels := func(v attr.Value) types.Map {
		return types.MapValueMust(types.StringType, map[string]attr.Value{"team": v})
	}
	for name, test := range map[string]struct{ prior, planned, want types.Map }{
		"the same":           {labels(types.StringValue("A")), labels(types.StringValue("a")), labels(types.StringValue("A"))},
		"something else":     {labels(types.StringValue("A")), labels(types.StringValue("b")), labels(types.StringValue("b"))},
		"an unknown element": {labels(types.StringValue("")), labels(types.StringUnknown()), labels(types.StringUnknown())},
		"nothing planned":    {labels(types.StringValue("A")), types.MapNull(types.StringType), types.MapNull(types.StringType)},
		"nothing before":     {types.MapNull(types.StringType), labels(types.StringValue("a")), labels(types.StringValue("a"))},
	} {
		attribute.KeepWording(
			func(x *attribute.Transfer, d *map[string]string) {
				attribute.TextMap(x, &test.prior, d, strings.EqualFold)
			},
			func(x *attribute.Transfer, d *map[string]string) {
				attribute.TextMap(x, &test.planned, d, strings.EqualFold)
			},
		)
		if diff := cmp.Diff(test.want, test.planned); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
