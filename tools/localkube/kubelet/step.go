package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Next is the next step of a pod.
type Next struct {
	// Status is the new status, or nil.
	Status *corev1.PodStatus
	// Remove reports that the pod's deletion is complete.
	Remove bool
	// Rejected reports that the pod is not admitted.
	Rejected bool
	// At is when to look at the pod again, zero for when it changes.
	At time.Time
}

// Step returns what a kubelet would do about a pod of its node now, as far as the time allows.
// The others are the other admitted pods that have not ended. deletedAt is when the kubelet
// observed the pod's deletion, of which the object only has the second; zero uses the object.
func Step(pod *corev1.Pod, node *corev1.Node, others []*corev1.Pod, now, deletedAt time.Time) Next {
	deleted := pod.DeletionTimestamp != nil
	if terminal(pod.Status.Phase) {
		return Next{Remove: deleted}
	}
	script, err := scriptOf(pod)
	s := stepper{
		script: script,
		pod:    pod,
		status: pod.Status.DeepCopy(),
		now:    metav1.NewTime(now.Truncate(time.Second)),
		clock:  now,
		leave:  deletedAt,
	}
	s.status.ObservedGeneration = pod.Generation
	if s.status.StartTime == nil && !deleted {
		if why := rejects(pod, node, others); why != nil {
			s.reject(why)
			return Next{Status: s.status, Rejected: true}
		}
	}
	switch {
	case err != nil:
		s.admit(node)
		s.end(corev1.PodFailed, "InvalidAnnotation", err.Error())
	case deleted && s.status.StartTime == nil:
		s.end(corev1.PodFailed, "", "") // it never started
	default:
		s.admit(node)
		s.run()
	}
	if deleted && !terminal(s.status.Phase) && s.due(s.stopTime()) {
		s.stop()
	}
	s.conditions()

	next := Next{At: s.wake, Remove: deleted && terminal(s.status.Phase)}
	if !equality.Semantic.DeepEqual(*s.status, pod.Status) {
		next.Status = s.status
	}
	return next
}

// stepper takes one pod's status on.
type stepper struct {
	script script
	pod    *corev1.Pod
	status *corev1.PodStatus
	now    metav1.Time // in whole seconds, as the API keeps times
	clock  time.Time
	leave  time.Time // when the pod was to go, if that is known
	wake   time.Time // the earliest time at which something is due
}

// due tells whether a time has come, and remembers it if not.
func (s *stepper) due(at time.Time) bool {
	if !s.clock.Before(at) {
		return true
	}
	if s.wake.IsZero() || at.Before(s.wake) {
		s.wake = at
	}
	return false
}

// stopTime is when a deleted pod's containers stop. The deletion timestamp is
// the time of the request plus the grace period.
func (s *stepper) stopTime() time.Time {
	if s.script.ignoresSIGTERM {
		return s.pod.DeletionTimestamp.Time
	}
	if !s.leave.IsZero() {
		return s.leave.Add(s.script.stopsAfter)
	}
	var grace int64
	if s.pod.DeletionGracePeriodSeconds != nil {
		grace = *s.pod.DeletionGracePeriodSeconds
	}
	return s.pod.DeletionTimestamp.Add(-time.Duration(grace) * time.Second).Add(s.script.stopsAfter)
}

func (s *stepper) admit(node *corev1.Node) {
	if s.status.StartTime != nil {
		return
	}
	s.status.Phase = corev1.PodPending
	s.status.StartTime = &s.now
	s.status.HostIP, s.status.HostIPs = hostIP(node)
	s.status.InitContainerStatuses = waiting(s.pod.Spec.InitContainers, "PodInitializing")
	reason := "ContainerCreating"
	if len(s.pod.Spec.InitContainers) > 0 {
		reason = "PodInitializing"
	}
	s.status.ContainerStatuses = waiting(s.pod.Spec.Containers, reason)
}

// run starts, ends and restarts the containers that are due.
func (s *stepper) run() {
	deleted := s.pod.DeletionTimestamp != nil
	if !s.started() && (deleted || !s.due(s.status.StartTime.Add(s.script.startAfter))) {
		return
	}
	if !s.runInit(deleted) {
		return
	}
	if s.script.evictedAfter != never && s.evict() {
		return
	}
	ended := true
	for i := range s.status.ContainerStatuses {
		ended = s.runContainer(&s.status.ContainerStatuses[i], deleted) && ended
	}
	s.status.Phase = corev1.PodRunning
	if ended {
		s.finish()
	}
}

func (s *stepper) started() bool {
	for _, status := range s.all() {
		if status.ContainerID != "" {
			return true
		}
	}
	return false
}

// runInit takes the init containers on, one after the other, and tells whether
// the regular ones may run.
func (s *stepper) runInit(deleted bool) (done bool) {
	for i := range s.status.InitContainerStatuses {
		status := &s.status.InitContainerStatuses[i]
		if status.State.Waiting != nil {
			if deleted {
				return false
			}
			s.start(status)
		}
		if sidecar(&s.pod.Spec.InitContainers[i]) || status.State.Running == nil {
			continue
		}
		if !s.due(begun(status).Add(s.script.initFor)) {
			return false
		}
		s.exit(status, 0)
		status.Ready = true
	}
	return true
}

// runContainer takes a regular container on, and tells whether it has ended
// for good.
func (s *stepper) runContainer(status *corev1.ContainerStatus, deleted bool) (ended bool) {
	for {
		switch {
		case status.State.Terminated != nil:
			return true
		case status.State.Waiting != nil:
			if deleted {
				return false
			}
			if last := status.LastTerminationState.Terminated; last != nil {
				if !s.due(last.FinishedAt.Add(s.script.restartAfter)) {
					return false
				}
				status.RestartCount++
			}
			s.start(status)
		}
		code, again, over := s.script.afterRun(s.pod.Spec.RestartPolicy, status.RestartCount)
		if !over || !s.due(begun(status).Add(s.script.runFor)) {
			return false
		}
		s.exit(status, code)
		if !again || deleted {
			return true
		}
		status.LastTerminationState = status.State
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	}
}

// stop ends what still runs of a deleted pod.
func (s *stepper) stop() {
	code := int32(143) // SIGTERM
	if s.script.exitCode != nil {
		code = *s.script.exitCode
	}
	for _, status := range s.all() {
		if status.State.Running != nil {
			s.exit(status, code)
		}
	}
	s.finish()
}

// finish gives the pod its last phase, and ends its sidecars.
func (s *stepper) finish() {
	phase := corev1.PodSucceeded
	for i := range s.status.InitContainerStatuses {
		if status := &s.status.InitContainerStatuses[i]; status.State.Running != nil {
			s.exit(status, 0)
		}
	}
	for _, status := range s.status.ContainerStatuses {
		if ended := status.State.Terminated; ended == nil || ended.ExitCode != 0 {
			phase = corev1.PodFailed
		}
	}
	s.end(phase, "", "")
}

// evict fails the pod, if due, as the kubelet does when its node is short of memory. It no
// longer knows when the containers ran.
func (s *stepper) evict() bool {
	first := &s.status.ContainerStatuses[0]
	if first.State.Running == nil || !s.due(begun(first).Add(s.script.evictedAfter)) {
		return false
	}
	for _, status := range s.all() {
		if status.State.Running != nil {
			status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 137,
				Reason:   "ContainerStatusUnknown",
				Message:  "The container could not be located when the pod was terminated",
			}}
			status.Ready, status.Started = false, new(bool)
		}
	}
	const message = "The node was low on resource: memory."
	s.set(corev1.DisruptionTarget, corev1.ConditionTrue, corev1.PodReasonTerminationByKubelet, message)
	s.end(corev1.PodFailed, "Evicted", message)
	return true
}

func (s *stepper) end(phase corev1.PodPhase, reason, message string) {
	s.status.Phase, s.status.Reason, s.status.Message = phase, reason, message
	s.wake = time.Time{}
}

func terminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}
