package gpu

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// When containers start and finish is told by the clock of their node, which may
// be wrong. When an object was created, deleted or written is told by the API
// server's.

// proven takes an end no further than to when the API server last wrote the
// status of the pod, which had ended by then. Only a node's clock that is as far
// ahead as clocks may be is mended so: what is told of writes can be edited by
// whoever may edit the pod, and must not make an hour undone.
func (v interval) proven(end End) End {
	written, ok := v.statusWritten()
	if ok && end.At.After(written) && !end.At.After(written.Add(clockSkew)) {
		end.At = written
	}
	return end
}

// lasted is for how long the containers of a pod that ended ran, by their node's
// own clock, where that is so far behind that nothing it tells is after the pod's
// creation.
func (v interval) lasted() (time.Duration, bool) {
	var first, last time.Time
	for _, list := range [][]corev1.ContainerStatus{v.pod.Status.InitContainerStatuses, v.pod.Status.ContainerStatuses} {
		for i := range list {
			for _, state := range []*corev1.ContainerStateTerminated{list[i].State.Terminated, list[i].LastTerminationState.Terminated} {
				if state == nil {
					continue
				}
				if at, ok := v.believe("a container's end", state.FinishedAt.Time); ok {
					last = later(last, at)
				}
				if at, ok := v.believe("a container's start", state.StartedAt.Time); ok && (first.IsZero() || at.Before(first)) {
					first = at
				}
			}
		}
	}
	if last.IsZero() || !last.Before(v.pod.CreationTimestamp.Add(-clockSkew)) {
		return 0, false
	}
	if first.IsZero() || first.After(last) {
		return 0, true
	}
	return last.Sub(first), true
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
