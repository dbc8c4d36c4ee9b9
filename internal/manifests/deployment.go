package manifests

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// every is how long after the beginning of one run a Deployment's next one begins. The
// replay of the pod watch reaches back at least 75 seconds.
const every = 40 * time.Second

// deployment is one process that runs again and again, and hears of notices between the
// runs. The next version begins where this one has ended.
func (o Options) deployment() *appsv1.Deployment {
	marks := labels()
	marks["app.kubernetes.io/component"] = ReconcileAccount
	pod := o.pod(o.container("--every="+every.String(), "--timeout="+o.Timeout.String()))
	pod.RestartPolicy = corev1.RestartPolicyAlways
	return &appsv1.Deployment{
		TypeMeta: kindOf("apps/v1", "Deployment"), ObjectMeta: in(o.runNamespace(), ReconcileAccount),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Selector: &metav1.LabelSelector{MatchLabels: marks},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: marks}, Spec: pod},
		},
	}
}
