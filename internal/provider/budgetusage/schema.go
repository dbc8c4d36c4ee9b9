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
		MarkdownDescription: "Usage of a budget, as the last `gpupool reconcile` run counted it. `as_of` is the time of that count. The values come " +
			"from the store; the cluster is not read. Before the first run of a budget, all values except `limit` are null, with a warning. A warning " +
			"also reports values of an earlier declaration, and values older than the budget's `max_status_age`. Amounts are GPU-hours as decimal " +
			"strings with three decimal places. Times are in UTC (RFC 3339).",
		Attributes: map[string]schema.Attribute{
			"budget": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the budget.",
			},
			"as_of":       kit.ComputedText("Time of the count, by the cluster's clock."),
			"generation":  kit.ComputedWhole("Version of the declaration that the usage was compared with; null before the first run."),
			"limit":       kit.ComputedText("Limit that the usage was compared with; before the first run, the declared limit."),
			"used":        kit.ComputedText("GPU-hours used in the window."),
			"remaining":   kit.ComputedText("GPU-hours left below the limit; never negative."),
			"estimated":   kit.ComputedText("Part of `used` that is estimated, because the ends of pods were not observed."),
			"error_bound": kit.ComputedText("Largest error of `used`, in either direction."),
			"coverage": kit.ComputedDecimal("Share of the window until `as_of` that was observed, from 0 to 1, as in the JSON of `gpupool " +
				"reconcile` and `gpupool status`."),
			"burn_rate_gpus": kit.ComputedDecimal("Number of GPUs that the budget's pods held at `as_of`, by weight."),
			"exceeded":       kit.ComputedBool("Whether `used` has reached the limit."),
			"exceeded_since": kit.ComputedText("Time at which usage reached the limit, derived from the pods' own times; null while it is below."),
			"tracked_pods":   kit.ComputedWhole("Number of pods that count, including ended ones."),
			"active_pods":    kit.ComputedWhole("Number of these pods that held GPUs at `as_of`."),
			"window_start":   kit.ComputedText("Start of the window."),
			"window_end":     kit.ComputedText("End of the calendar period; for a rolling window, `as_of`."),
			"enforced":       kit.ComputedTexts("Actions in force: `freeze`, `pause`, and `evict` if the last run evicted pods."),
			"enforce_at": kit.ComputedText("End of the grace period, when the action begins; null while usage is below the limit, or if the action " +
				"is `alert_only`."),
			"by_namespace": kit.ComputedTextMap(fmt.Sprintf("GPU-hours by namespace. Of more than %d namespaces, the largest are listed; `%s` has "+
				"the rest.", meter.MaxBreakdown, budget.Others)),
			"projected_exhaustion": kit.ComputedText("Time at which usage reaches the limit if the number of GPUs stays the same. Null if the " +
				"limit is already reached, or is not reached before the calendar period ends."),
			"recovers_at": kit.ComputedText("Time at which usage falls below the limit if no more GPUs are used; null while it is below. In a " +
				"rolling window, that is when enough usage has left it; otherwise, the end of the calendar period."),
			"by_label": schema.MapAttribute{
				Computed: true, ElementType: types.MapType{ElemType: types.StringType},
				MarkdownDescription: fmt.Sprintf("GPU-hours by the budget's `breakdown_labels`: by key, then by value. The value `\"\"` has the pods "+
					"without the label. Of more than %d values, the largest are listed; `%s` has the rest.", meter.MaxBreakdown, budget.Others),
			},
		},
	}
}
