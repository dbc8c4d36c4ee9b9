package functions

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

var _ function.Function = gpuHours{}

type gpuHours struct{}

// NewGPUHours returns the function gpu_hours.
func NewGPUHours() function.Function { return gpuHours{} }

func (gpuHours) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "gpu_hours"
}

func (gpuHours) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Multiplies GPUs by a duration",
		MarkdownDescription: "Multiplies a number of GPUs by a duration, and returns GPU-hours for the argument `gpu_hours` of a budget. The " +
			"result is a decimal string with three decimal places, rounded half up, and at most a billion. Two GPUs for eight hours are " +
			"`\"16.000\"`.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name: "gpus",
				MarkdownDescription: "Number of GPUs, such as `2` or `0.5`, or a fraction such as `\"1/7\"`, as `gpu_count` returns it. Write a " +
					"third as `\"1/3\"`: the number `1/3` has too many digits.",
			},
			function.StringParameter{
				Name:                "duration",
				MarkdownDescription: "Duration, such as `\"8h\"`, `\"90m\"`, `\"7d\"` or `\"1d12h\"`.",
			},
		},
		Return: function.StringReturn{},
	}
}

func (gpuHours) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var gpus, long string
	resp.Error = function.ConcatFuncErrors(req.Arguments.Get(ctx, &gpus, &long))
	if resp.Error != nil {
		return
	}
	count, err := parseGPUs(gpus)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	length, err := duration.Parse(long)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(1, err.Error())
		return
	}
	hours := new(big.Rat).Mul(count, big.NewRat(int64(length), int64(time.Hour)))
	if hours.Cmp(big.NewRat(budget.MaxGPUHours, 1)) > 0 {
		resp.Error = function.NewFuncError(fmt.Sprintf("%s GPUs for %s are more than the %d GPU-hours that a budget may have", gpus, long, budget.MaxGPUHours))
		return
	}
	// FloatString rounds halves away from zero, which is up, since nothing is
	// negative here.
	resp.Error = function.ConcatFuncErrors(resp.Result.Set(ctx, hours.FloatString(3)))
}

// parseGPUs reads a number of GPUs, a decimal or a fraction.
func parseGPUs(s string) (*big.Rat, error) {
	count, err := weight.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("invalid number of GPUs %q: use a number such as 2 or 0.5, or a fraction such as \"1/7\"", s)
	}
	return count, nil
}
