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

// enforcement is what is done when the limit is reached.
type enforcement struct {
	Enforcement types.Object `tfsdk:"enforcement"`
}

func (e *enforcement) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Object(x, &e.Enforcement, enforcementTypes, &d.Enforce, enforcementFields)
}

var enforcementTypes = attribute.Types(enforcementAttributes())

func enforcementFields(x *attribute.Transfer, f *attribute.Fields, e *core.Enforcement) {
	attribute.Text(x, f.Text("action"), &e.Action)
	attribute.Spelled(x, f.Text("grace_period"), &e.GracePeriod, sameDuration)
	attribute.AnyNumber(x, f.AnyNumber("max_evictions_per_run"), &e.MaxEvictionsPerRun)
	attribute.Spelled(x, f.Text("max_grace_period"), &e.MaxGracePeriod, sameDuration)
	attribute.Text(x, f.Text("eviction_order"), &e.EvictionOrder)
	attribute.Text(x, f.Text("protected_priority_class"), &e.ProtectedPriorityClass)
	attribute.Members(x, f.List("protected_namespaces"), &e.ProtectedNamespaces)
	attribute.Carry(x, honored, f.Bool("honor_pod_protection"), &e.HonorPodProtection)
	attribute.Text(x, f.Text("on_manual_resume"), &e.OnManualResume)
	attribute.Text(x, f.Text("on_ineffective"), &e.OnIneffective)
	attribute.Spelled(x, f.Text("max_gap"), &e.MaxGap, sameDuration)
}

// honored is true where a declaration leaves it out.
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
		MarkdownDescription: "What is done when the limit is reached, and how carefully. Pods of `kube-system`, `kube-public`, `kube-node-lease` and the " +
			"store's own namespace are never touched, nor is any pod that, or whose namespace, has the annotation or label `gpupool/protected: \"true\"` " +
			"(see `honor_pod_protection`). Where it is left out, nothing is enforced.",
		Attributes: enforcementAttributes(),
	}
}

func enforcementAttributes() map[string]schema.Attribute {
	absent := defaults.Enforce
	return map[string]schema.Attribute{
		"action": kit.DefaultChoice(absent.Action, "`alert_only` tells and does nothing; `freeze` lets no new pods with GPUs of this selector in; "+
			"`pause` suspends the pods' Jobs and scales their Deployments and StatefulSets to zero; `evict` freezes, and evicts pods by the eviction API, "+
			"which heeds disruption budgets. A freeze, that of `evict` too, and a pause are undone when usage falls below the limit, or the budget "+
			"is destroyed."),
		"grace_period": kit.DefaultDuration(absent.GracePeriod, "How long nothing is enforced, as a duration from `\"0s\"` to `\"30d\"`, such as `\"30m\"`. "+
			"It runs from the latest of three times: when usage reached the limit, when this limit was applied, and the first run that reported it."),
		"max_evictions_per_run": schema.NumberAttribute{
			Optional: true, Computed: true, Default: numberdefault.StaticBigFloat(values.OfNumber(absent.MaxEvictionsPerRun).ValueBigFloat()),
			MarkdownDescription: fmt.Sprintf("How many pods one run may evict at most, 1 to %d. Default: `%d`.", core.MaxEvictions, absent.MaxEvictionsPerRun),
		},
		"max_grace_period": kit.DefaultDuration(absent.MaxGracePeriod, "How long pods may take to end, as a duration from `\"1s\"` to `\"30d\"`. While the "+
			"budget evicts, a pod that is evicted gets this or its own `terminationGracePeriodSeconds`, whichever is shorter, and one that is ending "+
			"already with more than this left gets less time, whoever deleted it. A pause is not done while a pod has more than this left."),
		"eviction_order": kit.DefaultChoice(absent.EvictionOrder, "Who is evicted first: `lowest_priority`, `newest_start` (the least work is lost), "+
			"`spot_first` or `largest_usage`."),
		"protected_priority_class": kit.Text(kit.Optional, "Priority class at and above whose value pods are never touched. Where the cluster does not have "+
			"it, no pod is."),
		"protected_namespaces": kit.Texts(kit.Optional, "Namespaces whose pods count and are never touched."),
		"honor_pod_protection": kit.DefaultBool(absent.HonorsPods(), "Whether the annotation or label `gpupool/protected` on a pod itself spares it, "+
			"which whoever makes the pod can write. With `false` it does not; that of the namespace, `protected_namespaces` and "+
			"`protected_priority_class` still do."),
		"on_manual_resume": kit.DefaultChoice(absent.OnManualResume, "What happens to a paused workload that another user resumes, for example by `kubectl "+
			"scale`: `warn` leaves it running, reports it and does not count it as paused; `pause` pauses it again."),
		"on_ineffective": kit.DefaultChoice(absent.OnIneffective, "What comes after a `pause` if pods of its workload still hold GPUs ten minutes later: "+
			"`warn` has the run fail for this budget and name them; `evict` evicts these pods, up to `max_evictions_per_run`, gives those that are ending "+
			"`max_grace_period`, and freezes the selector until usage falls below the limit."),
		"max_gap": kit.DefaultDuration(absent.MaxGap, "The longest gap between two observations after which pods may still be evicted or paused on the "+
			"strength of estimates, as a duration from `\"1s\"` to `\"30d\"`. After a longer one, what is certain has to reach the limit by itself. A "+
			"freeze, which ends no pod, does not wait for that."),
	}
}
