package kubelet

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// waiting returns the statuses of containers that have not started.
func waiting(containers []corev1.Container, reason string) []corev1.ContainerStatus {
	statuses := make([]corev1.ContainerStatus, 0, len(containers))
	for _, container := range containers {
		statuses = append(statuses, corev1.ContainerStatus{
			Name:    container.Name,
			Image:   container.Image,
			Started: new(bool),
			State:   corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		})
	}
	return statuses
}

// all returns the pod's container statuses, init containers first.
func (s *stepper) all() []*corev1.ContainerStatus {
	var all []*corev1.ContainerStatus
	for _, statuses := range [][]corev1.ContainerStatus{s.status.InitContainerStatuses, s.status.ContainerStatuses} {
		for i := range statuses {
			all = append(all, &statuses[i])
		}
	}
	return all
}

func (s *stepper) start(status *corev1.ContainerStatus) {
	started := true
	status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: s.now}}
	status.Ready, status.Started = true, &started
	status.ImageID = "docker.io/" + status.Image + "@sha256:" + digest(status.Image)
	status.ContainerID = s.containerID(status)
	if s.status.PodIP == "" {
		// Pods that ended give their address back, so that two may meet.
		sum := sha256.Sum256([]byte(s.pod.UID))
		s.status.PodIP = fmt.Sprintf("10.%d.%d.%d", 128+sum[0]%64, sum[1], 1+sum[2]%254)
		s.status.PodIPs = []corev1.PodIP{{IP: s.status.PodIP}}
	}
}

const runtime = "containerd://"

// containerID names a run of a container. Its first 16 digits are when it began:
// the API keeps whole seconds, and a run lasts as long as it should to the
// millisecond.
func (s *stepper) containerID(status *corev1.ContainerStatus) string {
	run := digest(fmt.Sprint(s.pod.UID, status.Name, status.RestartCount))
	return fmt.Sprintf("%s%016x%s", runtime, s.clock.UnixNano(), run[16:])
}

// begun is when a running container's run began.
func begun(status *corev1.ContainerStatus) time.Time {
	started := status.State.Running.StartedAt.Time
	if id, _ := strings.CutPrefix(status.ContainerID, runtime); len(id) > 16 {
		nanos, err := strconv.ParseInt(id[:16], 16, 64)
		if at := time.Unix(0, nanos); err == nil && at.Truncate(time.Second).Equal(started) {
			return at
		}
	}
	return started
}

func (s *stepper) exit(status *corev1.ContainerStatus, code int32) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode:    code,
		Reason:      reason,
		StartedAt:   status.State.Running.StartedAt,
		FinishedAt:  s.now,
		ContainerID: status.ContainerID,
	}}
	status.Ready, status.Started = false, new(bool)
}

func digest(of string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(of))) }

// conditions sets those that the kubelet owns; others, such as
// DisruptionTarget, stay.
func (s *stepper) conditions() {
	reason := map[corev1.PodPhase]string{
		corev1.PodSucceeded: "PodCompleted",
		corev1.PodFailed:    "PodFailed",
	}[s.status.Phase]
	over := reason != ""

	s.set(corev1.PodScheduled, corev1.ConditionTrue, "", "")
	s.set(corev1.PodReadyToStartContainers, status(!over && s.started()), "", "")

	initialized, ready := s.initialized(), !over && s.ready()
	switch {
	case initialized && s.status.Phase == corev1.PodSucceeded:
		s.set(corev1.PodInitialized, corev1.ConditionTrue, reason, "")
	case initialized:
		s.set(corev1.PodInitialized, corev1.ConditionTrue, "", "")
	default:
		s.set(corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized", "containers with incomplete status")
	}
	message := ""
	if !ready && !over {
		reason, message = "ContainersNotReady", "containers with unready status"
	}
	s.set(corev1.PodReady, status(ready), reason, message)
	s.set(corev1.ContainersReady, status(ready), reason, message)
}

func (s *stepper) initialized() bool {
	for i := range s.status.InitContainerStatuses {
		state := s.status.InitContainerStatuses[i].State
		running := sidecar(&s.pod.Spec.InitContainers[i]) && state.Running != nil
		if !running && (state.Terminated == nil || state.Terminated.ExitCode != 0) {
			return false
		}
	}
	return true
}

func (s *stepper) ready() bool {
	for _, status := range s.all() {
		if !status.Ready {
			return false
		}
	}
	return true
}

// set sets a condition; its time is that of the last change of its status.
func (s *stepper) set(kind corev1.PodConditionType, value corev1.ConditionStatus, reason, message string) {
	condition := corev1.PodCondition{
		Type: kind, Status: value, Reason: reason, Message: message,
		LastTransitionTime: s.now, ObservedGeneration: s.pod.Generation,
	}
	at := slices.IndexFunc(s.status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if at < 0 {
		s.status.Conditions = append(s.status.Conditions, condition)
		return
	}
	if s.status.Conditions[at].Status == value {
		condition.LastTransitionTime = s.status.Conditions[at].LastTransitionTime
		condition.LastProbeTime = s.status.Conditions[at].LastProbeTime
	}
	s.status.Conditions[at] = condition
}

func status(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// sidecar reports whether an init container runs next to the regular ones.
func sidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func hostIP(node *corev1.Node) (string, []corev1.HostIP) {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address, []corev1.HostIP{{IP: address.Address}}
		}
	}
	return "", nil
}
