package drift

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Replacement describes how a changed template replaces the pods of a Deployment. Its strategy
// decides that, for which declarations have no argument.
func Replacement(of *appsv1.Deployment) string {
	const few = "a few at a time"
	if of == nil {
		return few
	}
	s := of.Spec.Strategy
	switch {
	case of.Spec.Paused:
		return "once the paused rollout of its Deployment is resumed"
	case s.Type == appsv1.RecreateDeploymentStrategyType:
		return "at once, since its Deployment has the strategy Recreate"
	case s.RollingUpdate == nil || s.RollingUpdate.MaxUnavailable == nil:
		return few
	}
	replicas := stockpool.Observation{Deployment: of}.Replicas()
	if most, err := intstr.GetScaledValueFromIntOrPercent(s.RollingUpdate.MaxUnavailable, replicas, false); err == nil && replicas > 1 && most >= replicas {
		return fmt.Sprintf("at once, since its Deployment has maxUnavailable %s", s.RollingUpdate.MaxUnavailable)
	}
	return few
}
