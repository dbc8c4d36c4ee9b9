package gpu

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// deviceClasses begins the names of the extended resources that every DeviceClass
// has without naming one (resource.k8s.io/v1).
const deviceClasses = "deviceclass.resource.kubernetes.io/"

// MayHold says whether a pod can hold GPUs at all, by what it asks for. It is
// cheap, and meant for scanning: where it says no, See finds no share.
func (t *Table) MayHold(pod *corev1.Pod) bool {
	if len(pod.Spec.ResourceClaims) > 0 || pod.Status.ExtendedResourceClaimStatus != nil {
		return true
	}
	if ByFraction(pod) {
		return true
	}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if t.anyMatters(list[i].Resources.Requests) || t.anyMatters(list[i].Resources.Limits) {
				return true
			}
		}
	}
	level := pod.Spec.Resources
	return t.anyMatters(pod.Spec.Overhead) || level != nil && (t.anyMatters(level.Requests) || t.anyMatters(level.Limits))
}

func (t *Table) anyMatters(list corev1.ResourceList) bool {
	for name := range list {
		if t.Matters(string(name)) {
			return true
		}
	}
	return false
}

// Matters says whether a pod that asks for a resource may hold GPUs by it: the
// resource is counted, or is part of what is, or may stand for a DRA device.
func (t *Table) Matters(resource string) bool {
	return t.Counts(resource) || resource == qgpuMemory || isCardPart(resource) || strings.HasPrefix(resource, deviceClasses)
}

// ByFraction says whether a pod calls itself a fraction of GPUs.
func ByFraction(pod *corev1.Pod) bool {
	for key := range pod.Annotations {
		if MattersAnnotation(key) {
			return true
		}
	}
	return false
}

// MattersAnnotation says whether a pod with such an annotation may hold GPUs by
// it.
func MattersAnnotation(key string) bool {
	return key == fractionAnnotation || key == fractionMemoryAnnotation
}
