package kubetest

import (
	"maps"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations for the stand-in kubelet; tools/localkube/kubelet explains each.
const (
	initFor      = "localkube.gpupool.dev/init-for"
	runFor       = "localkube.gpupool.dev/run-for"
	exitCode     = "localkube.gpupool.dev/exit-code"
	restarts     = "localkube.gpupool.dev/restarts"
	restartAfter = "localkube.gpupool.dev/restart-after"
	stopsAfter   = "localkube.gpupool.dev/stops-after"
	ignoresTerm  = "localkube.gpupool.dev/ignores-sigterm"
	evictedAfter = "localkube.gpupool.dev/evicted-after"
)

// PodOption changes a pod that is being made.
type PodOption func(*corev1.Pod)

// Pod returns a pod of one container, which asks for nothing, runs until the
// pod is deleted, and then stops within a second or two. An empty name is made
// up by the server.
func Pod(namespace, name string, options ...PodOption) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/train:1"}},
		},
	}
	if name == "" {
		pod.GenerateName = "pod-"
	}
	for _, option := range options {
		option(pod)
	}
	return pod
}

// GPUs asks for n whole GPUs, as nvidia.com/gpu.
func GPUs(n int) PodOption { return Resource("nvidia.com/gpu", strconv.Itoa(n)) }

// Resource asks for a quantity of a resource in the first container, as
// request and limit.
func Resource(name corev1.ResourceName, quantity string) PodOption {
	return func(pod *corev1.Pod) {
		resources := &pod.Spec.Containers[0].Resources
		resources.Requests = with(resources.Requests, name, quantity)
		resources.Limits = with(resources.Limits, name, quantity)
	}
}

func with(list corev1.ResourceList, name corev1.ResourceName, quantity string) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	list[name] = resource.MustParse(quantity)
	return list
}

// Labels adds labels.
func Labels(labels map[string]string) PodOption {
	return func(pod *corev1.Pod) { maps.Copy(pod.Labels, labels) }
}

// Annotation adds an annotation.
func Annotation(name, value string) PodOption {
	return func(pod *corev1.Pod) { pod.Annotations[name] = value }
}

// OnNode schedules the pod on that node only. It also works for nodes of Node, to which no other
// pods are scheduled.
func OnNode(node string) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: reserved, Operator: corev1.TolerationOpExists})
	}
}

// BoundTo binds the pod to a node without the scheduler, even to one that has no room or does not
// exist.
func BoundTo(node string) PodOption {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = node }
}

// Priority gives the pod a priority class.
func Priority(class string) PodOption {
	return func(pod *corev1.Pod) { pod.Spec.PriorityClassName = class }
}

// RunFor ends the pod's containers d after their start. The pod then has
// succeeded, or failed where ExitCode says so.
func RunFor(d time.Duration) PodOption {
	return func(pod *corev1.Pod) {
		pod.Annotations[runFor] = d.String()
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
}

// ExitCode is what the containers exit with.
func ExitCode(code int) PodOption { return Annotation(exitCode, strconv.Itoa(code)) }

// Restarts starts each container again, n times, each time d after its start.
// The last run goes on until the pod is deleted.
func Restarts(n int, d time.Duration) PodOption {
	return func(pod *corev1.Pod) {
		pod.Annotations[restarts], pod.Annotations[runFor] = strconv.Itoa(n), d.String()
		pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}
}

// RestartAfter keeps a container down for d before it is started again.
func RestartAfter(d time.Duration) PodOption { return Annotation(restartAfter, d.String()) }

// StopsAfter stops the containers d after the pod's deletion was asked for.
func StopsAfter(d time.Duration) PodOption { return Annotation(stopsAfter, d.String()) }

// IgnoresSIGTERM keeps the containers running until the pod's grace period is over, which is the
// given one by default.
func IgnoresSIGTERM(grace int64) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.TerminationGracePeriodSeconds = &grace
		pod.Annotations[ignoresTerm] = "true"
	}
}

// EvictedAfter has the kubelet evict the pod d after its start, as when its
// node is short of memory: its containers' times are then unknown.
func EvictedAfter(d time.Duration) PodOption { return Annotation(evictedAfter, d.String()) }

// InitContainer adds an init container before the others, which requests a quantity of a resource
// and runs for d. Every init container runs as long as the last one.
func InitContainer(name string, of corev1.ResourceName, quantity string, d time.Duration) PodOption {
	return func(pod *corev1.Pod) {
		addInit(pod, name, of, quantity)
		pod.Annotations[initFor] = d.String()
	}
}

// Sidecar adds a sidecar next to the containers: an init container that keeps running and requests
// a quantity of a resource.
func Sidecar(name string, of corev1.ResourceName, quantity string) PodOption {
	return func(pod *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		addInit(pod, name, of, quantity).RestartPolicy = &always
	}
}

func addInit(pod *corev1.Pod, name string, of corev1.ResourceName, quantity string) *corev1.Container {
	container := pod.Spec.Containers[0]
	container.Name = name
	container.Resources = corev1.ResourceRequirements{Requests: with(nil, of, quantity), Limits: with(nil, of, quantity)}
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
	return &pod.Spec.InitContainers[len(pod.Spec.InitContainers)-1]
}

// Claim gives the first container the devices of a ResourceClaim.
func Claim(claim string) PodOption {
	return claimed(corev1.PodResourceClaim{Name: claim, ResourceClaimName: &claim})
}

// ClaimTemplate gives the first container the devices of a claim that is made
// for the pod.
func ClaimTemplate(template string) PodOption {
	return claimed(corev1.PodResourceClaim{Name: template, ResourceClaimTemplateName: &template})
}

func claimed(claim corev1.PodResourceClaim) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, claim)
		resources := &pod.Spec.Containers[0].Resources
		resources.Claims = append(resources.Claims, corev1.ResourceClaim{Name: claim.Name})
	}
}
