package drift

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Replacement describes how a changed template replaces the pods of a Deployment. Its strategy
// decides that, for which declarations have no argument.
func Replacement(of *appsv1.Deployment) reason.Reason {
	few := reason.FewAtATime()
	if of == nil {
		return few
	}
	s := of.Spec.Strategy
	switch {
	case of.Spec.Paused:
		return reason.OnceResumed()
	case s.Type == appsv1.RecreateDeploymentStrategyType:
		return reason.AtOnceByRecreate()
	case s.RollingUpdate == nil || s.RollingUpdate.MaxUnavailable == nil:
		return few
	}
	replicas := stockpool.Observation{Deployment: of}.Replicas()
	if most, err := intstr.GetScaledValueFromIntOrPercent(s.RollingUpdate.MaxUnavailable, replicas, false); err == nil && replicas > 1 && most >= replicas {
		return reason.AtOnceByMaximum(reason.Value(s.RollingUpdate.MaxUnavailable.String()))
	}
	return few
}
