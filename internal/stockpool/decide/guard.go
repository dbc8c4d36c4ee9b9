package decide

import (
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// guard brings the PodDisruptionBudget in sync.
func guard(v View, t Tally) (_ Tally, r Result) {
	live, there := v.Observation.Deployment, v.Observation.Guard
	wanted, own := v.Declaration.Guard(live), guards(there, live.UID)
	kind, reason := stockpool.KindGuard, ""
	switch {
	case wanted == nil && own:
		kind, reason = stockpool.KindUnguard, "its declaration no longer has a pod_disruption_budget"
	case wanted == nil:
	case there != nil && !own:
		r.warnf("%s", (&TakenError{Kind: "PodDisruptionBudget", Key: v.Declaration.Key(), UID: string(there.UID)}).Error())
	case there == nil, !equality.Semantic.DeepEqual(there.Spec.MinAvailable, wanted.Spec.MinAvailable),
		!equality.Semantic.DeepEqual(there.Spec.Selector, wanted.Spec.Selector):
		reason = fmt.Sprintf("evictions must leave %d available", v.Declaration.PodDisruptionBudget.MinAvailable)
	case there.Labels[stockpool.LabelPool] != wanted.Labels[stockpool.LabelPool]: // observations find it by this label
		reason = "its label was removed"
	}
	if reason != "" {
		has := v.Observation.Replicas()
		r.Decisions = []stockpool.Decision{{Kind: kind, Was: has, Replicas: has, Reasons: []string{reason}}}
	}
	return t, r
}

func guards(p *policyv1.PodDisruptionBudget, of types.UID) bool {
	return p != nil && of != "" && slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == of && o.Kind == "Deployment" })
}
