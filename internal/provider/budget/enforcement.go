package budget

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/numberdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

type enforcement struct {
	Enforcement types.Object `tfsdk:"enforcement"`
}

func (e *enforcement) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Object(x, &e.Enforcement, enforcementTypes, &d.Enforce, enforcementFields)
}

var enforcementTypes = attribute.Types(enforcementAttributes())

func enforcementFields(x *attribute.Transfer, f *attribute.Fields, e *core.Enforcement) {
	attribute.Text(x, f.Text("action"), &e.Action)
	attribute.Spelled(x, f.Text("grace_period"), &e.GracePeriod, attribute.SameDuration)
	attribute.AnyNumber(x, f.AnyNumber("max_evictions_per_run"), &e.MaxEvictionsPerRun)
	attribute.Spelled(x, f.Text("max_grace_period"), &e.MaxGracePeriod, attribute.SameDuration)
	attribute.Text(x, f.Text("eviction_order"), &e.EvictionOrder)
	attribute.Text(x, f.Text("protected_priority_class"), &e.ProtectedPriorityClass)
	attribute.Members(x, f.List("protected_namespaces"), &e.ProtectedNamespaces)
	attribute.Carry(x, honored, f.Bool("honor_pod_protection"), &e.HonorPodProtection)
	attribute.Text(x, f.Text("on_manual_resume"), &e.OnManualResume)
	attribute.Text(x, f.Text("on_ineffective"), &e.OnIneffective)
	attribute.Spelled(x, f.Text("max_gap"), &e.MaxGap, attribute.SameDuration)
}

// honored is true if a declaration omits it.
var honored = attribute.Kind[types.Bool, *bool]{
	Read: func(v types.Bool) (*bool, bool) { return v.ValueBoolPointer(), true },
	Write: func(b *bool) types.Bool {
		return types.BoolValue(core.Enforcement{HonorPodProtection: b}.HonorsPods())
	},
	Same: func(a, b *bool) bool { return a != nil && b != nil && *a == *b },
}

func enforcementAttribute() schema.Attribute {
	absent := defaults.Enforce
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true,
		Default: objectdefault.StaticValue(attribute.NewObject(enforcementTypes, &absent, enforcementFields)),
		MarkdownDescription: "Action when the limit is reached, and its safeguards. Never affected are pods of `kube-system`, `kube-public`, " +
			"`kube-node-lease` and the store's namespace. The annotation or label `gpupool/protected: \"true\"` on a pod (see `honor_pod_protection`) " +
			"or on its namespace also protects pods. If omitted, the budget only alerts.",
		Attributes: enforcementAttributes(),
	}
}

func enforcementAttributes() map[string]schema.Attribute {
	absent := defaults.Enforce
	return map[string]schema.Attribute{
		"action": kit.DefaultChoice(absent.Action, "Action when the limit is reached. `alert_only` only alerts. `freeze` blocks new GPU pods of the selector. "+
			"`pause` suspends the pods' Jobs and CronJobs, and scales their Deployments and StatefulSets to zero. "+
			"`evict` freezes, and evicts pods with the eviction API, which respects disruption budgets. Freezes and pauses are "+
			"reverted when usage falls below the limit, or the budget is destroyed."),
		"grace_period": kit.DefaultDuration(absent.GracePeriod, "Time before the action, from `\"0s\"` to `\"30d\"`, such as `\"30m\"`. It starts at the "+
			"latest of three times: usage reached the limit, this limit was applied, and a run first reported the crossing."),
		"max_evictions_per_run": schema.NumberAttribute{
			Optional: true, Computed: true, Default: numberdefault.StaticBigFloat(values.OfNumber(absent.MaxEvictionsPerRun).ValueBigFloat()),
			MarkdownDescription: fmt.Sprintf("Highest number of pods that one run evicts, 1 to %d. Default: `%d`.",
				core.MaxEvictions, absent.MaxEvictionsPerRun),
		},
		"max_grace_period": kit.DefaultDuration(absent.MaxGracePeriod, "Longest termination grace period of pods while the budget evicts, from `\"1s\"` to "+
			"`\"30d\"`. A shorter `terminationGracePeriodSeconds` of a pod applies. Covered pods that are already terminating are shortened, too. A pause "+
			"is not complete while a pod has more time than this left."),
		"eviction_order": kit.DefaultChoice(absent.EvictionOrder, "Order of evictions: `lowest_priority`, `newest_start` (the least work is lost), "+
			"`spot_first` or `largest_usage`."),
		"protected_priority_class": kit.Text(kit.Optional, "Priority class. Pods with its value or a higher one are never paused or evicted. If the cluster "+
			"does not have the class, no pod is."),
		"protected_namespaces": kit.Texts(kit.Optional, "Namespaces whose pods count toward usage, but are never affected."),
		"honor_pod_protection": kit.DefaultBool(absent.HonorsPods(), "Whether the annotation or label `gpupool/protected` on a pod protects it. Anyone who "+
			"may create the pod can set it. With `false`, only those of the namespace, `protected_namespaces` and `protected_priority_class` "+
			"protect pods."),
		"on_manual_resume": kit.DefaultChoice(absent.OnManualResume, "Action if another user resumes a paused workload, for example with `kubectl scale`. "+
			"`warn` reports the workload, and no longer counts it as paused. `pause` pauses it again."),
		"on_ineffective": kit.DefaultChoice(absent.OnIneffective, "Action if pods of a paused workload still hold GPUs after ten minutes, or if a pause "+
			"does not reach them. `warn` lists the pods, and the run fails for this budget. `evict` evicts them, up to `max_evictions_per_run`, and "+
			"gives pods that are terminating `max_grace_period`. It also freezes the selector until usage falls below the limit."),
		"max_gap": kit.DefaultDuration(absent.MaxGap, "Longest gap between two observations with which estimated usage can cause pauses and evictions, from "+
			"`\"1s\"` to `\"30d\"`. After a longer gap, certain usage must reach the limit. A freeze does not depend on this, since it terminates no pods."),
	}
}
