package kubelet

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// rejects tells why a node's kubelet would not take the pod on beside the
// others that it took, nil if it would. It asks the kubelet's own code
// (pkg/kubelet/lifecycle/predicate.go): a pod whose requests exceed what is
// left of the node is rejected, and extended resources that the node doesn't
// list at all are dropped before that, so that the pod runs without them.
//
// The GPUs here are of no device plugin. One that has too few left is asked
// before all this (pkg/kubelet/cm/devicemanager), and rejects alike, with the
// reason UnexpectedAdmissionError.
func rejects(pod *corev1.Pod, node *corev1.Node, others []*corev1.Pod) *lifecycle.PodAdmitResult {
	handler := lifecycle.NewPredicateAdmitHandler(
		func(context.Context, bool) (*corev1.Node, error) { return node.DeepCopy(), nil },
		noPreemption{},
		func(*framework.NodeInfo, *lifecycle.PodAdmitAttributes) error { return nil },
	)
	result := handler.Admit(&lifecycle.PodAdmitAttributes{Pod: pod, OtherPods: others, Operation: lifecycle.AddOperation})
	if result.Admit {
		return nil
	}
	return &result
}

// noPreemption makes no room for critical pods.
type noPreemption struct{}

func (noPreemption) HandleAdmissionFailure(_ context.Context, _ *corev1.Pod, reasons []lifecycle.PredicateFailureReason) ([]lifecycle.PredicateFailureReason,
	error) {
	return reasons, nil
}

// reject fails a pod that was not taken on: it has a start time and no
// container statuses, and the conditions that are the kubelet's own are gone.
func (s *stepper) reject(why *lifecycle.PodAdmitResult) {
	conditions := s.status.Conditions[:0]
	for _, condition := range s.status.Conditions {
		if !conditionOfKubelet[condition.Type] {
			conditions = append(conditions, condition)
		}
	}
	s.status = &corev1.PodStatus{
		ObservedGeneration:          s.pod.Generation,
		Phase:                       corev1.PodFailed,
		Reason:                      why.Reason,
		Message:                     "Pod was rejected: " + why.Message,
		StartTime:                   &s.now,
		QOSClass:                    qos.GetPodQOS(s.pod),
		Conditions:                  conditions,
		NominatedNodeName:           s.status.NominatedNodeName,
		ResourceClaimStatuses:       s.status.ResourceClaimStatuses,
		ExtendedResourceClaimStatus: s.status.ExtendedResourceClaimStatus,
	}
}

var conditionOfKubelet = map[corev1.PodConditionType]bool{
	corev1.PodScheduled: true, corev1.PodReady: true, corev1.PodInitialized: true,
	corev1.ContainersReady: true, corev1.PodReadyToStartContainers: true,
}
