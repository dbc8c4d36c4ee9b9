package budgetusage

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

func (s *usageDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What a budget has used, as the last run of `gpupool reconcile` found it: `as_of` is when that was. It is read from the store alone, and no cluster is asked. " +
			"Before the first run has judged a budget, every value but the limit is null, with a warning. " +
			"Amounts are GPU-hours as decimal strings with three digits after the point.",
		Attributes: map[string]schema.Attribute{
			"budget": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the budget.",
			},
			"as_of":                text("When the usage was counted, by the cluster's clock, in UTC (RFC 3339)."),
			"generation":           number("Which generation of the budget's declaration it was judged by; null before the first run."),
			"limit":                text("The limit, by the declaration that the usage was judged by."),
			"used":                 text("What was used inside the window."),
			"remaining":            text("What is left of the limit; never below zero."),
			"estimated":            text("The part of `used` that rests on ends of pods that nobody saw."),
			"error_bound":          text("By how much `used` may be wrong, either way."),
			"coverage":             float("How much of the window until `as_of` was observed, from 0 to 1, as in the JSON of `gpupool reconcile` and `gpupool status`."),
			"burn_rate_gpus":       float("How many GPUs the budget's pods held at `as_of`, by weight."),
			"exceeded":             boolean("Whether `used` is at the limit or above."),
			"exceeded_since":       text("When usage reached the limit, derived from the pods' own times; null while it is below."),
			"tracked_pods":         number("How many pods count, those that ended included."),
			"active_pods":          number("How many of them held GPUs at `as_of`."),
			"window_start":         text("When the window began, in UTC (RFC 3339)."),
			"window_end":           text("When the calendar period ends; for a rolling window, `as_of`."),
			"enforced":             list("Measures in force: `freeze`, `pause`, `evict`."),
			"enforce_at":           text("When the grace period ends, from which on the budget's action is carried out; null while usage is below the limit, or where the action is `alert_only`."),
			"by_namespace":         table(fmt.Sprintf("GPU-hours by namespace. Of more than %d the largest are listed, and the rest is `%s`.", budget.MaxBreakdown, budget.Others)),
			"projected_exhaustion": text("When the limit is reached if as many GPUs go on being used; null where it is not, or not before a calendar period ends, or where it is already."),
			"by_label": schema.MapAttribute{
				Computed: true, ElementType: types.MapType{ElemType: types.StringType},
				MarkdownDescription: fmt.Sprintf("GPU-hours by the budget's `breakdown_labels`: by key, and in there by value; `\"\"` stands for pods without the label. Of more than %d values the largest are listed, and the rest is `%s`.", budget.MaxBreakdown, budget.Others),
			},
		},
	}
}

func text(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

func number(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

func float(description string) schema.NumberAttribute {
	return schema.NumberAttribute{Computed: true, MarkdownDescription: description}
}

func boolean(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

func list(description string) schema.ListAttribute {
	return schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}

func table(description string) schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}
