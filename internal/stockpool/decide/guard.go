package decide

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// guard brings the PodDisruptionBudget in sync.
func guard(v View, t Tally) (_ Tally, r Result) {
	live, there := v.Observation.Deployment, v.Observation.Guard
	wanted, own := v.Declaration.Guard(live), guards(there, live.UID)
	kind, why := stockpool.KindGuard, reason.Reason{}
	switch {
	case wanted == nil && own:
		kind, why = stockpool.KindUnguard, reason.GuardUndeclared()
	case wanted == nil:
	case there != nil && !own:
		r.warn((&TakenError{Kind: "PodDisruptionBudget", Key: v.Declaration.Key(), UID: string(there.UID)}).Because())
	case there == nil, !equality.Semantic.DeepEqual(there.Spec.MinAvailable, wanted.Spec.MinAvailable),
		!equality.Semantic.DeepEqual(there.Spec.Selector, wanted.Spec.Selector):
		why = reason.GuardLeaves(reason.Count(v.Declaration.PodDisruptionBudget.MinAvailable))
	case there.Labels[stockpool.LabelPool] != wanted.Labels[stockpool.LabelPool]: // observations find it by this label
		why = reason.GuardLabelRemoved()
	}
	if !why.IsZero() {
		has := v.Observation.Replicas()
		r.Decisions = []stockpool.Decision{{Kind: kind, Was: has, Replicas: has, Reasons: reason.Reasons{why}}}
	}
	return t, r
}

func guards(p *policyv1.PodDisruptionBudget, of types.UID) bool {
	return p != nil && of != "" && slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == of && o.Kind == "Deployment" })
}
