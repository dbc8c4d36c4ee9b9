package gpu

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// deviceClasses is the prefix of the extended resources that every DeviceClass has implicitly
// (resource.k8s.io/v1).
const deviceClasses = "deviceclass.resource.kubernetes.io/"

// MayHold reports whether a pod's requests allow it to hold GPUs. It is cheap and meant for
// scanning: if it returns false, See finds no share.
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

// Matters reports whether a pod that requests a resource may hold GPUs by it. The resource counts,
// is part of one that counts, or may stand for a DRA device.
func (t *Table) Matters(resource string) bool {
	return t.Counts(resource) || resource == qgpuMemory || isCardPart(resource) || strings.HasPrefix(resource, deviceClasses)
}

// ByFraction reports whether a pod requests a fraction of GPUs.
func ByFraction(pod *corev1.Pod) bool {
	for key := range pod.Annotations {
		if MattersAnnotation(key) {
			return true
		}
	}
	return false
}

// MattersAnnotation reports whether a pod with such an annotation may hold GPUs by it.
func MattersAnnotation(key string) bool {
	return key == fractionAnnotation || key == fractionMemoryAnnotation
}
