package kubetest

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// template returns a pod's template, and the selector of its pods: the label
// app, with the workload's name.
func template(name string, options []PodOption) (corev1.PodTemplateSpec, *metav1.LabelSelector) {
	app := map[string]string{"app": name}
	pod := Pod("", "", append([]PodOption{Labels(app)}, options...)...)
	pod.GenerateName = ""
	return corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}, &metav1.LabelSelector{MatchLabels: app}
}

// Deployment returns a Deployment whose pods carry the label app with its
// name.
func Deployment(namespace, name string, replicas int32, options ...PodOption) *appsv1.Deployment {
	template, selector := template(name, options)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template},
	}
}

// ForgedReplicaSet returns a ReplicaSet that no Deployment controls, with a name as one of the Deployment has. Its
// pods have these labels, and the label forged.
func ForgedReplicaSet(namespace, deployment string, replicas int32, labels map[string]string) *appsv1.ReplicaSet {
	const hash = "abc"
	forged := map[string]string{"forged": "true"}
	template, _ := template("forged", []PodOption{GPUs(1)})
	template.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash}
	maps.Copy(template.Labels, forged)
	maps.Copy(template.Labels, labels)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: deployment + "-" + hash},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Template: template, Selector: &metav1.LabelSelector{MatchLabels: forged}},
	}
}

// StatefulSet returns a StatefulSet whose pods carry the label app with its
// name, and start all at once.
func StatefulSet(namespace, name string, replicas int32, options ...PodOption) *appsv1.StatefulSet {
	template, selector := template(name, options)
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: selector, Template: template, PodManagementPolicy: appsv1.ParallelPodManagement,
		},
	}
}

// Job returns a Job of so many pods, all at once, whose pods carry the label
// app with its name. Without RunFor its pods never finish.
func Job(namespace, name string, pods int32, options ...PodOption) *batchv1.Job {
	template, _ := template(name, options)
	if template.Spec.RestartPolicy == "" {
		template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       batchv1.JobSpec{Parallelism: &pods, Completions: &pods, Template: template},
	}
}

// PodDisruptionBudget returns a budget that keeps so many of the pods with
// these labels available.
func PodDisruptionBudget(namespace, name string, minAvailable int, labels map[string]string) *policyv1.PodDisruptionBudget {
	available := intstr.FromInt(minAvailable)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &available,
			Selector:     &metav1.LabelSelector{MatchLabels: labels},
		},
	}
}

// ResourceQuota returns a quota of one resource, such as
// requests.nvidia.com/gpu.
func ResourceQuota(namespace, name string, of corev1.ResourceName, quantity string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: with(nil, of, quantity)},
	}
}

// PriorityClass returns a priority class. Its name is the whole cluster's.
func PriorityClass(name string, value int32) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
}
