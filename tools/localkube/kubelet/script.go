package kubelet

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations that control a pod. Durations are Go's: 30s, 1m30s. A pod without any starts at
// once and runs until it is deleted.
const (
	// StartAfter is how long after the pod came to the node its first
	// container starts, as while an image is pulled.
	StartAfter = prefix + "start-after"
	// InitFor is how long each init container runs that is no sidecar.
	InitFor = prefix + "init-for"
	// RunFor is how long each run of the containers lasts.
	RunFor = prefix + "run-for"
	// ExitCode is the exit code of a container at the end of a run, and when the pod is
	// deleted. Default: 0, and 143 when the pod is deleted.
	ExitCode = prefix + "exit-code"
	// Restarts is how often a terminated container is restarted, if the restart policy allows
	// it; by default, each time. With the policy Always, the run after the last restart never
	// ends. With OnFailure, all runs before the last fail.
	Restarts = prefix + "restarts"
	// RestartAfter is the time until a container is restarted. Default: none, and 1s if a run
	// lasts less than that.
	RestartAfter = prefix + "restart-after"
	// StopsAfter is how long after its deletion was asked for a pod's
	// containers stop, by default 1s. More than the grace period is a pod that
	// hangs, as on a GPU that fell off its bus.
	StopsAfter = prefix + "stops-after"
	// IgnoresSIGTERM, with the value "true", keeps the containers of a deleted pod running
	// until its grace period is over. A shorter one that is requested later also holds.
	IgnoresSIGTERM = prefix + "ignores-sigterm"
	// EvictedAfter is how long after their start the kubelet itself evicts
	// the pod, as when the node is short of memory.
	EvictedAfter = prefix + "evicted-after"
)

// script is what a pod's annotations ask for; never, for a duration that is
// not given.
type script struct {
	startAfter, initFor, runFor, restartAfter, stopsAfter, evictedAfter time.Duration

	exitCode       *int32
	restarts       *int32
	ignoresSIGTERM bool
}

const never = time.Duration(-1)

func scriptOf(pod *corev1.Pod) (script, error) {
	s := script{runFor: never, evictedAfter: never, stopsAfter: time.Second, ignoresSIGTERM: pod.Annotations[IgnoresSIGTERM] == "true"}
	var errs []error
	for name, into := range map[string]*time.Duration{
		StartAfter: &s.startAfter, InitFor: &s.initFor, RunFor: &s.runFor,
		RestartAfter: &s.restartAfter, StopsAfter: &s.stopsAfter, EvictedAfter: &s.evictedAfter,
	} {
		text, given := pod.Annotations[name]
		if !given {
			continue
		}
		duration, err := time.ParseDuration(text)
		if err != nil || duration < 0 {
			errs = append(errs, fmt.Errorf("annotation %s: invalid duration %q, such as 30s", name, text))
			continue
		}
		*into = duration
	}
	for name, into := range map[string]**int32{ExitCode: &s.exitCode, Restarts: &s.restarts} {
		text, given := pod.Annotations[name]
		if !given {
			continue
		}
		number, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			errs = append(errs, fmt.Errorf("annotation %s: %q is not a whole number", name, text))
			continue
		}
		value := int32(number)
		*into = &value
	}
	if s.restarts != nil && pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		errs = append(errs, fmt.Errorf("annotation %s: the pod's restart policy is Never", Restarts))
	}
	if s.runFor < time.Second && s.restartAfter == 0 {
		s.restartAfter = time.Second // else it would never rest
	}
	return s, errors.Join(errs...)
}

// afterRun returns what follows a container's run: its exit code, and whether it is restarted.
// over is false for a run that does not end.
func (s script) afterRun(policy corev1.RestartPolicy, restartCount int32) (code int32, again, over bool) {
	if s.exitCode != nil {
		code = *s.exitCode
	}
	if s.runFor == never {
		return code, false, false
	}
	left := s.restarts == nil || restartCount < *s.restarts
	switch policy {
	case corev1.RestartPolicyNever:
		return code, false, true
	case corev1.RestartPolicyOnFailure:
		if s.restarts != nil && left && code == 0 {
			return 1, true, true
		}
		return code, left && code != 0, true
	default:
		return code, true, left
	}
}
