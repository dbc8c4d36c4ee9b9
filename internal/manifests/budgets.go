package manifests

import (
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
)

const (
	budgetsName      = "gpupool-budgets"
	budgetsVolume    = "budgets"
	budgetsDirectory = "/etc/gpupool/budgets"
	budgetsFile      = "budgets.yaml"
	// budgetsAnnotation restarts a Deployment when the file changes.
	budgetsAnnotation = "gpupool/budgets-sha256"
)

func (w workload) budgets() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: kindOf("v1", "ConfigMap"), ObjectMeta: in(w.runNamespace(), budgetsName), Data: map[string]string{budgetsFile: w.Budgets},
	}
}

// declares adds a container to a pod that declares the budgets of the file before the pod starts.
func (w workload) declares(pod corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	if w.Budgets == "" {
		return pod
	}
	container := w.container("declare", budgetsDirectory+"/"+budgetsFile, "--log-format=json")
	container.Name = "declare"
	container.VolumeMounts = []corev1.VolumeMount{{Name: budgetsVolume, MountPath: budgetsDirectory, ReadOnly: true}}
	pod.Spec.InitContainers = []corev1.Container{container}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: budgetsVolume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: budgetsName}},
	}})
	sum := sha256.Sum256([]byte(w.Budgets))
	pod.Annotations = map[string]string{budgetsAnnotation: hex.EncodeToString(sum[:])}
	return pod
}
