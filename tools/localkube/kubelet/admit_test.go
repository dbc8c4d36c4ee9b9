package kubelet_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/tools/localkube/kubelet"
)

func asking(name string, of corev1.ResourceName, quantity string) *corev1.Pod {
	requests := corev1.ResourceList{of: resource.MustParse(quantity)}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{
			NodeName: node.Name, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "main", Image: "train:1", Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse},
		}},
	}
}

func TestAPodThatDoesNotFitIsRejected(t *testing.T) {
	t.Parallel()
	gpu := corev1.ResourceName("nvidia.com/gpu")
	for name, test := range map[string]struct {
		pod     *corev1.Pod
		others  []*corev1.Pod
		reason  string // none where it is taken on
		message string
	}{
		"more than the node has": {
			pod: asking("a", gpu, "9"), reason: "OutOfnvidia.com/gpu",
			message: "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 9, used: 0, capacity: 8",
		},
		"an absurd count": {
			pod: asking("a", gpu, "9999"), reason: "OutOfnvidia.com/gpu",
			message: "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 9999, used: 0, capacity: 8",
		},
		"all that the node has": {pod: asking("a", gpu, "8")},
		"more than the others leave": {
			pod: asking("a", gpu, "3"), others: []*corev1.Pod{asking("b", gpu, "6")}, reason: "OutOfnvidia.com/gpu",
			message: "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 3, used: 6, capacity: 8",
		},
		"what the others leave": {pod: asking("a", gpu, "2"), others: []*corev1.Pod{asking("b", gpu, "6")}},
		"too much cpu": {
			pod: asking("a", corev1.ResourceCPU, "81"), reason: "OutOfcpu",
			message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 81000, used: 0, capacity: 80000",
		},
		"what the node has not got": {pod: asking("a", "amd.com/gpu", "9999")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := noon.Add(300 * time.Millisecond)
			next := kubelet.Step(test.pod, node, test.others, now, time.Time{})
			if next.Status == nil || next.Status.StartTime == nil || !next.Status.StartTime.Time.Equal(noon) || next.Remove {
				t.Fatalf("it is answered with %+v", next)
			}
			if next.Rejected != (test.reason != "") || next.Status.Reason != test.reason || next.Status.Message != test.message {
				t.Errorf("rejected %t, reason %q, message %q", next.Rejected, next.Status.Reason, next.Status.Message)
			}
			if !next.Rejected {
				if next.Status.Phase != corev1.PodRunning || len(next.Status.ContainerStatuses) != 1 {
					t.Errorf("it was taken on, and is %+v", next.Status)
				}
				return
			}
			if next.Status.Phase != corev1.PodFailed || len(next.Status.ContainerStatuses) != 0 || !next.At.IsZero() {
				t.Errorf("it was rejected, and is %+v", next.Status)
			}
			if conditions := next.Status.Conditions; len(conditions) != 1 || conditions[0].Type != corev1.DisruptionTarget {
				t.Errorf("conditions of the kubelet's own are left: %+v", conditions)
			}
		})
	}
}

func TestARejectedPodStaysUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	pod := asking("a", "nvidia.com/gpu", "9")
	pod.Status = *kubelet.Step(pod, node, nil, noon, time.Time{}).Status
	if next := kubelet.Step(pod, node, nil, noon.Add(time.Hour), time.Time{}); next.Status != nil || next.Remove || !next.At.IsZero() {
		t.Errorf("an hour later: %+v", next)
	}
	at := metav1.NewTime(noon.Add(time.Hour))
	pod.DeletionTimestamp = &at
	if next := kubelet.Step(pod, node, nil, noon.Add(time.Hour), time.Time{}); !next.Remove {
		t.Errorf("once it is deleted: %+v", next)
	}
}

func TestAPodThatWasTakenOnIsNotRejectedLater(t *testing.T) {
	t.Parallel()
	pod := asking("a", "nvidia.com/gpu", "8")
	pod.Status = *kubelet.Step(pod, node, nil, noon, time.Time{}).Status
	shrunk := node.DeepCopy()
	shrunk.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("0")
	if next := kubelet.Step(pod, shrunk, nil, noon.Add(time.Hour), time.Time{}); next.Rejected || next.Status != nil {
		t.Errorf("on a node that shrank: %+v", next)
	}
}
