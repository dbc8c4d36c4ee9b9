package budgetusage

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

func (s *usageDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What a budget has used, as the last run of `gpupool reconcile` found it: `as_of` is when that was. It is read from the " +
			"store, and no pods are looked at. " +
			"Before the first run has judged a budget, every value but the limit is null, with a warning; a warning also says that the values are those of " +
			"an earlier declaration, or older than the budget's `max_status_age`. " +
			"Amounts are GPU-hours as decimal strings with three digits after the point, and times are in UTC (RFC 3339).",
		Attributes: map[string]schema.Attribute{
			"budget": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the budget.",
			},
			"as_of":       kit.ComputedText("When the usage was counted, by the cluster's clock."),
			"generation":  kit.ComputedWhole("Which generation of the budget's declaration it was judged by; null before the first run."),
			"limit":       kit.ComputedText("The limit, by the declaration that the usage was judged by; before the first run, the declared one."),
			"used":        kit.ComputedText("What was used inside the window."),
			"remaining":   kit.ComputedText("What is left of the limit; never below zero."),
			"estimated":   kit.ComputedText("The part of `used` that rests on estimates, since nobody saw when pods ended."),
			"error_bound": kit.ComputedText("By how much `used` may be wrong, either way."),
			"coverage": kit.ComputedDecimal("How much of the window until `as_of` was observed, from 0 to 1, as in the JSON of `gpupool " +
				"reconcile` and `gpupool status`."),
			"burn_rate_gpus": kit.ComputedDecimal("How many GPUs the budget's pods held at `as_of`, by weight."),
			"exceeded":       kit.ComputedBool("Whether `used` is at the limit or above."),
			"exceeded_since": kit.ComputedText("When usage reached the limit, derived from the pods' own times; null while it is below."),
			"tracked_pods":   kit.ComputedWhole("How many pods count, those that ended included."),
			"active_pods":    kit.ComputedWhole("How many of them held GPUs at `as_of`."),
			"window_start":   kit.ComputedText("When the window began."),
			"window_end":     kit.ComputedText("When the calendar period ends; for a rolling window, `as_of`."),
			"enforced":       kit.ComputedTexts("Measures in force: `freeze`, `pause`, and `evict` where the last run evicted pods."),
			"enforce_at": kit.ComputedText("When the grace period ends, from which on the budget's action is carried out; null while usage is below " +
				"the limit, or where the action is `alert_only`."),
			"by_namespace": kit.ComputedTextMap(fmt.Sprintf("GPU-hours by namespace. Of more than %d the largest are listed, and the rest is `%s`.",
				meter.MaxBreakdown, budget.Others)),
			"projected_exhaustion": kit.ComputedText("When the limit is reached if as many GPUs go on being used; null where it is not, or not before a " +
				"calendar period ends, or where it is already."),
			"recovers_at": kit.ComputedText("When usage falls below the limit if nothing more is used: once enough of it has left a sliding window, or when " +
				"the calendar period ends; null while it is below."),
			"by_label": schema.MapAttribute{
				Computed: true, ElementType: types.MapType{ElemType: types.StringType},
				MarkdownDescription: fmt.Sprintf("GPU-hours by the budget's `breakdown_labels`: by key, and in there by value; `\"\"` stands for pods "+
					"without the label. Of more than %d values the largest are listed, and the rest is `%s`.", meter.MaxBreakdown, budget.Others),
			},
		},
	}
}
