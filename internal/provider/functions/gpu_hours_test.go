package functions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/functions"
)

func call(t *testing.T, f function.Function, arguments ...attr.Value) (string, string) {
	t.Helper()
	resp := function.RunResponse{Result: function.NewResultData(types.StringUnknown())}
	f.Run(context.Background(), function.RunRequest{Arguments: function.NewArgumentsData(arguments)}, &resp)
	if resp.Error != nil {
		return "", resp.Error.Text
	}
	text, ok := resp.Result.Value().(types.String)
	if !ok {
		t.Fatalf("the result is %T", resp.Result.Value())
	}
	return text.ValueString(), ""
}

func TestGPUHours(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ gpus, duration, want string }{
		{"2", "8h", "16.000"},
		{"0.1", "30s", "0.001"},   // 0.00083…, up
		{"0.05", "36s", "0.001"},  // half a thousandth, up
		{"0.04", "36s", "0.000"},  // less, down
		{"1/7", "7h", "1.000"},    // exact
		{"1/3", "1h", "0.333"},    // rounded once
		{"3", "1d12h", "108.000"}, // days and hours
		{"4", "30d", "2880.000"},
		{"0", "1h", "0.000"},
		{"1", "0s", "0.000"},
		{"8", "1h0m0.5s", "8.001"},
		{"999999999", "1h", "999999999.000"},
	} {
		if got, err := call(t, functions.NewGPUHours(), types.StringValue(test.gpus), types.StringValue(test.duration)); err != "" || got != test.want {
			t.Errorf("%s GPUs for %s are %q, not %q %s", test.gpus, test.duration, got, test.want, err)
		}
	}
}

func TestGPUHoursOfNonsense(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ gpus, duration, why string }{
		{"-1", "1h", `invalid number of GPUs "-1"`},
		{"1e3", "1h", `invalid number of GPUs "1e3"`},
		{"1/0", "1h", `invalid number of GPUs "1/0"`},
		{"", "1h", `invalid number of GPUs ""`},
		{"1", "", `invalid duration ""`},
		{"1", "8", `invalid duration "8"`},
		{"1", "-1h", `invalid duration "-1h"`},
		{"1", "1.5d", `invalid duration "1.5d"`},
		{"1", "1d-1h", `invalid duration "1d-1h"`},
		{"1", "d", `invalid duration "d"`},
		{"1", "65535d2400000h", "292 years"},
		{"999999999", "2h", "more than the 1000000000 GPU-hours"},
	} {
		if got, err := call(t, functions.NewGPUHours(), types.StringValue(test.gpus), types.StringValue(test.duration)); !strings.Contains(err, test.why) {
			t.Errorf("%q GPUs for %q are %q, and not refused with %q: %s", test.gpus, test.duration, got, test.why, err)
		}
	}
}
