package kubelet

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// rejects returns why a node's kubelet would reject the pod, given its other pods; nil if it
// would not. It uses the kubelet's own code (pkg/kubelet/lifecycle/predicate.go). A pod whose
// requests exceed the rest of the node is rejected. Extended resources that the node does not
// list at all are dropped before that, so that the pod runs without them.
//
// The GPUs here have no device plugin. If too few are left, the kubelet rejects before all this
// (pkg/kubelet/cm/devicemanager), with the reason UnexpectedAdmissionError.
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

// reject fails a rejected pod. It has a start time and no container statuses, and the kubelet's
// own conditions are removed.
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
