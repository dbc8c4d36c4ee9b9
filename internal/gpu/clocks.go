package gpu

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// When containers start and finish is told by the clock of their node, which may
// be wrong. When an object was created, deleted or written is told by the API
// server's.

// proven takes an end no further than to when the API server last wrote the
// status of the pod, which had ended by then. Only a node's clock that is as far
// ahead as clocks may be is mended so: what is told of writes can be edited by
// whoever may edit the pod, and must not make an hour undone.
func (v interval) proven(end ledger.End) ledger.End {
	written, ok := v.statusWritten()
	if ok && end.At > written && end.At <= written+clockSkew {
		return ledger.ExactEnd(written, end.Source)
	}
	return end
}

// lasted is for how long the containers of a pod that ended ran, by their node's
// own clock, where that is so far behind that nothing it tells is after the pod's
// creation.
func (v interval) lasted() (ledger.Time, bool) {
	var first, last ledger.Time
	for _, list := range [][]corev1.ContainerStatus{v.pod.Status.InitContainerStatuses, v.pod.Status.ContainerStatuses} {
		for i := range list {
			for _, state := range []*corev1.ContainerStateTerminated{list[i].State.Terminated, list[i].LastTerminationState.Terminated} {
				if state == nil {
					continue
				}
				if at, ok := v.believe("a container's end", state.FinishedAt.Time); ok {
					last = max(last, at)
				}
				if at, ok := v.believe("a container's start", state.StartedAt.Time); ok && (first == 0 || at < first) {
					first = at
				}
			}
		}
	}
	if last == 0 || last >= v.appeared()-clockSkew {
		return 0, false
	}
	if first == 0 || first > last {
		return 0, true
	}
	return last - first, true
}
