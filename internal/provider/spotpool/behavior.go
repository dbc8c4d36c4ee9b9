package spotpool

import (
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// behavior is how the pool changes and is destroyed.
type behavior struct {
	Refresh            types.Object `tfsdk:"refresh"`
	Budget             types.String `tfsdk:"budget"`
	OnBudgetExceeded   types.String `tfsdk:"on_budget_exceeded"`
	BudgetGracePeriod  types.String `tfsdk:"budget_grace_period"`
	DeletionProtection types.Bool   `tfsdk:"deletion_protection"`
	OnDestroy          types.String `tfsdk:"on_destroy"`
	SurplusAfter       types.String `tfsdk:"surplus_after"`
}

func (b *behavior) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Object(x, &b.Refresh, refreshTypes, &d.Refresh, refreshFields)
	attribute.Text(x, &b.Budget, &d.Budget)
	attribute.Text(x, &b.OnBudgetExceeded, &d.OnBudgetExceeded)
	attribute.Parsed(x, path.Root("budget_grace_period"), duration, &b.BudgetGracePeriod, &d.BudgetGracePeriod)
	attribute.Bool(x, &b.DeletionProtection, &d.DeletionProtection)
	attribute.Text(x, &b.OnDestroy, &d.OnDestroy)
	after := core.Duration(d.SurplusLimit())
	attribute.Parsed(x, path.Root("surplus_after"), duration, &b.SurplusAfter, &after)
	d.SurplusAfter = &after
}

func behaviorAttributes() map[string]schema.Attribute {
	refresh := defaults.Refresh
	return map[string]schema.Attribute{
		"refresh": schema.SingleNestedAttribute{
			Optional: true, Computed: true,
			Default: objectdefault.StaticValue(attribute.NewObject(refreshTypes, &refresh, refreshFields)),
			MarkdownDescription: "Replacement of running instances when their configuration changes: image, type, disks, network, keys, user data, " +
				"role, project or tags. New instances always get the changed configuration.",
			Attributes: refreshAttributes(),
		},
		"budget": kit.Text(kit.Optional, "Name of the budget that controls the pool's launches, such as `gpupool_budget.team_a.name`. While it is "+
			"exceeded, nothing is launched, and the pool keeps its instances unless `on_budget_exceeded` is `drain`. The status of the last `gpupool "+
			"reconcile` run counts. If there is none, or it is older than the budget's `max_status_age`, nothing is launched."),
		"on_budget_exceeded": kit.DefaultChoice(defaults.OnBudgetExceeded,
			"Action on the instances while `budget` is exceeded. `keep` keeps them. `drain` drains their nodes and terminates all but protected "+
				"instances once the budget has been exceeded for `budget_grace_period`. Only certain and fresh usage counts: nothing is terminated "+
				"while usage is estimated, or the budget's status is missing or older than its `max_status_age`. Instances are launched again once the "+
				"budget is no longer exceeded. `drain` needs `budget` and `nodes`."),
		"budget_grace_period": kit.DefaultDuration(defaults.BudgetGracePeriod.String(),
			"Time for which every run must have observed an exceeded budget before `on_budget_exceeded = \"drain\"` terminates instances. A duration "+
				"such as `\"30m\"`, at most `\"7d\"`."),
		"deletion_protection": kit.DefaultBool(defaults.DeletionProtection, "Whether plans that would destroy or replace the pool are refused."),
		"on_destroy": kit.DefaultChoice(defaults.OnDestroy, "Action on the instances when the pool is destroyed. `delete` terminates them; "+
			"`retain` removes gpupool's tags and keeps them running."),
		"surplus_after": kit.DefaultDuration(core.Duration(defaults.SurplusLimit()).String(),
			"Time for which a surplus stays that replacements left, because a replaced instance recovered or an interruption notice was withdrawn. "+
				"Then its instances are drained and terminated, the newest first. A pool keeps `minimum`, and instances that were adopted or "+
				"remained when `minimum` was lowered. A duration from `\"1s\"` to `\"7d\"`; `\"0s\"` keeps them."),
	}
}

var refreshTypes = attribute.Types(refreshAttributes())

func refreshFields(x *attribute.Transfer, f *attribute.Fields, d *core.Refresh) {
	attribute.Text(x, f.Text("strategy"), &d.Strategy)
	attribute.Number(x, f.Number("max_surge"), &d.MaxSurge)
	attribute.Number(x, f.Number("max_unavailable"), &d.MaxUnavailable)
}

func refreshAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"strategy": kit.DefaultChoice(defaults.Refresh.Strategy,
			"`none` keeps drifted instances until they are terminated for another reason. `opportunistic` terminates those above `minimum`. `rolling` "+
				"replaces them in batches: one apply starts at most one batch, and `gpupool reconcile` continues."),
		"max_surge": kit.DefaultNumber(defaults.Refresh.MaxSurge,
			"Number of instances above `minimum` that a rolling refresh launches ahead, 0 or more. `maximum` bounds it."),
		"max_unavailable": kit.DefaultNumber(defaults.Refresh.MaxUnavailable,
			"Number of instances by which a rolling refresh may go below `minimum`, 0 or more. If `minimum` equals `maximum`, it must be at least 1."),
	}
}
