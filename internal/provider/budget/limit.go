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

// limit is the budget's name and its limit.
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
	attribute.Spelled(x, &l.Window, &d.Window, sameDuration)
	attribute.Text(x, &l.Period, &d.Period)
	attribute.Text(x, &l.TimeZone, &d.TimeZone)
	attribute.Carry(x, percents, &l.Thresholds, &d.Thresholds)
}

// percents are whole numbers; a validation refuses others.
var percents = attribute.Kind[types.List, []int]{Read: values.Numbers, Write: values.OfNumbers, Same: slices.Equal[[]int]}

func sameHours(a, b string) bool {
	was, errWas := core.ParseHours(a)
	now, errNow := core.ParseHours(b)
	return errWas == nil && errNow == nil && was == now
}

func limitAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": kit.Text(kit.Required, "Name of the budget, unique in its store: 1 to 50 lower-case letters, digits and hyphens, beginning and ending with a "+
			"letter or digit. Another name replaces the budget."),
		"gpu_hours": kit.Text(kit.Required, "The limit in GPU-hours: a decimal above zero and up to a billion, with at most three digits after the point, "+
			"such as `\"100\"` or `\"12.5\"`. One GPU held for an hour is one GPU-hour; the function `gpu_hours` multiplies. A lower limit enforces nothing "+
			"before the grace period is over."),
		"window": kit.Text(kit.Optional, "Length of a rolling window: what was used that long before now counts. A duration from a minute to 400 days, such "+
			"as `\"24h\"`, `\"7d\"` or `\"1d12h\"`. Either this or `period` is required."),
		"period": kit.Text(kit.Optional, "Period of the calendar, at the beginning of which usage begins at zero again: `day`, `week` (from Monday), `month` "+
			"or `quarter`."),
		"time_zone": kit.Text(kit.Optional, "Time zone in which a `period` begins and ends, by its IANA name such as `\"Asia/Singapore\"`. Where it is left "+
			"out, UTC. A rolling window has none."),
		"thresholds": schema.ListAttribute{
			Optional: true, Computed: true, ElementType: types.NumberType,
			Default: listdefault.StaticValue(values.OfNumbers(defaults.Thresholds)),
			MarkdownDescription: "Percents of the limit that are told of when usage reaches them, whole ones from 1 to 1000, from low to high: in the " +
				"run's report, and as an Event in each of the pods' namespaces. Default: `" + strings.Join(strings.Fields(fmt.Sprint(defaults.Thresholds)),
				", ") + "`.",
		},
	}
}
