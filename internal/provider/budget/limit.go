package budget

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

type limit struct {
	Name       types.String `tfsdk:"name"`
	GPUHours   types.String `tfsdk:"gpu_hours"`
	Window     types.String `tfsdk:"window"`
	Period     types.String `tfsdk:"period"`
	TimeZone   types.String `tfsdk:"time_zone"`
	Thresholds types.List   `tfsdk:"thresholds"`
}

func (l *limit) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &l.Name, &d.Name)
	attribute.Spelled(x, &l.GPUHours, &d.GPUHours, sameHours)
	attribute.Spelled(x, &l.Window, &d.Window, attribute.SameDuration)
	attribute.Text(x, &l.Period, &d.Period)
	attribute.Text(x, &l.TimeZone, &d.TimeZone)
	attribute.Carry(x, percents, &l.Thresholds, &d.Thresholds)
}

// percents are whole numbers: a validation refuses others.
var percents = attribute.Kind[types.List, []int]{Read: values.Numbers, Write: values.OfNumbers, Same: slices.Equal[[]int]}

func sameHours(a, b string) bool {
	was, errWas := core.ParseHours(a)
	now, errNow := core.ParseHours(b)
	return errWas == nil && errNow == nil && was == now
}

func limitAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": kit.Text(kit.Required, "Name of the budget, unique in its store. Use 1 to 50 lower-case letters, digits and hyphens, with a letter or "+
			"digit first and last. Changing this forces replacement."),
		"gpu_hours": kit.Text(kit.Required, "Limit in GPU-hours, as a number such as `100` or a string such as `\"12.5\"`. It is above 0 and at most a "+
			"billion, with at most three decimal places. One GPU for one hour is one GPU-hour. The function `gpu_hours` multiplies. A lower limit "+
			"enforces nothing before the grace period has passed."),
		"window": kit.Text(kit.Optional, "Length of a rolling window, from a minute to 400 days, such as `\"24h\"`, `\"7d\"` or `\"1d12h\"`. Usage older "+
			"than this does not count. Conflicts with `period`; one of them is required."),
		"period": kit.Text(kit.Optional, "Calendar period: `day`, `week` (from Monday), `month` or `quarter`. Usage starts at zero in each period. "+
			"Conflicts with `window`; one of them is required."),
		"time_zone": kit.Text(kit.Optional, "Time zone of `period`, as an IANA name such as `\"Asia/Singapore\"`. If omitted, UTC. Conflicts with "+
			"`window`."),
		"thresholds": schema.ListAttribute{
			Optional: true, Computed: true, ElementType: types.NumberType,
			Default: listdefault.StaticValue(values.OfNumbers(defaults.Thresholds)),
			MarkdownDescription: "Alert thresholds in percent of the limit: whole numbers from 1 to 1000, in ascending order. If usage reaches one, the " +
				"run reports it, and creates an Event in each namespace of the pods. Default: `" + strings.Join(strings.Fields(fmt.Sprint(defaults.Thresholds)),
				", ") + "`.",
		},
	}
}
