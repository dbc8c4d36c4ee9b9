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

// behaviour is how the pool changes and ends.
type behaviour struct {
	Refresh            types.Object `tfsdk:"refresh"`
	Budget             types.String `tfsdk:"budget"`
	OnBudgetExceeded   types.String `tfsdk:"on_budget_exceeded"`
	BudgetGracePeriod  types.String `tfsdk:"budget_grace_period"`
	DeletionProtection types.Bool   `tfsdk:"deletion_protection"`
	OnDestroy          types.String `tfsdk:"on_destroy"`
	SurplusAfter       types.String `tfsdk:"surplus_after"`
}

func (b *behaviour) transfer(x *attribute.Transfer, d *core.Declaration) {
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

func behaviourAttributes() map[string]schema.Attribute {
	refresh := defaults.Refresh
	return map[string]schema.Attribute{
		"refresh": schema.SingleNestedAttribute{
			Optional: true, Computed: true,
			Default: objectdefault.StaticValue(attribute.NewObject(refreshTypes, &refresh, refreshFields)),
			MarkdownDescription: "What becomes of running instances when their configuration changes: image, type, disks, network, keys, user data, role, " +
				"project or tags. Changes always apply to new instances.",
			Attributes: refreshAttributes(),
		},
		"budget": kit.Text(kit.Optional, "Name of the budget that the pool's launches depend on, such as `gpupool_budget.team_a.name`: while it is exceeded, "+
			"nothing is launched, and the pool keeps the instances that it has, unless `on_budget_exceeded` says otherwise. What counts is what the last run "+
			"of `gpupool reconcile` found; where it found nothing, or longer ago than the budget's `max_status_age`, nothing is launched either."),
		"on_budget_exceeded": kit.DefaultChoice(defaults.OnBudgetExceeded,
			"What becomes of the pool's instances while `budget` is exceeded: `keep` keeps them; `drain` ends them all, but protected ones, once the "+
				"budget has been exceeded for `budget_grace_period`, their nodes drained before. "+
				"Only usage that is certain and present does so: while any of it that matters is estimated, or the budget's status is missing or older "+
				"than its `max_status_age`, nothing ends. The instances come back by themselves. `drain` needs `budget` and `nodes`."),
		"budget_grace_period": kit.DefaultDuration(defaults.BudgetGracePeriod.String(),
			"How long the budget must have been seen exceeded, without a run that did not see so for certain, before `on_budget_exceeded = \"drain\"` ends "+
				"instances, as a duration such as `\"30m\"`, at most `\"7d\"`."),
		"deletion_protection": kit.DefaultBool(defaults.DeletionProtection, "Whether plans that would destroy or replace the pool are refused."),
		"on_destroy": kit.DefaultChoice(defaults.OnDestroy, "What becomes of the instances when the pool is destroyed: `delete` terminates them; "+
			"`retain` takes gpupool's tags off and leaves them running."),
		"surplus_after": kit.DefaultDuration(core.Duration(defaults.SurplusLimit()).String(),
			"How long instances may stay that replacements left above what the pool keeps: when a replaced instance recovered, or an interruption notice was "+
				"withdrawn. Then they are scaled in, the newest first, their nodes drained before. A pool keeps `minimum`, and whatever was adopted, or "+
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
			"`none` leaves them until something else ends them; `opportunistic` ends those that are above `minimum`; `rolling` replaces them in batches. "+
				"One apply starts at most one batch, and `gpupool reconcile` goes on with it."),
		"max_surge": kit.DefaultNumber(defaults.Refresh.MaxSurge,
			"How many instances above `minimum` a rolling refresh may launch ahead, 0 or more; `maximum` bounds it."),
		"max_unavailable": kit.DefaultNumber(defaults.Refresh.MaxUnavailable,
			"How many instances below `minimum` a rolling refresh may leave meanwhile, 0 or more. With `minimum` equal to `maximum` it must be at least 1, "+
				"or a rolling refresh could never begin."),
	}
}
