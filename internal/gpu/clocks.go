package gpu

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Containers start and finish by the clock of their node, which may be wrong. Objects are created,
// deleted and written by the API server's clock.

// capByStatus limits an end to the API server's last write of the status, when the pod had already
// ended. It corrects a node's clock only by up to clockSkew. A user who can edit the pod can edit
// the times of writes, and must not remove an hour of usage.
func (v interval) capByStatus(end ledger.End) ledger.End {
	written, ok := v.statusWritten()
	if ok && end.At > written && end.At <= written+clockSkew {
		return ledger.ExactEnd(written, end.Source)
	}
	return end
}

// runTime returns how long the containers of a pod ran by their node's clock, if that clock puts all
// their times before the pod's creation.
func (v interval) runTime() (ledger.Time, bool) {
	var first, last ledger.Time
	for _, list := range [][]corev1.ContainerStatus{v.pod.Status.InitContainerStatuses, v.pod.Status.ContainerStatuses} {
		for i := range list {
			for _, state := range []*corev1.ContainerStateTerminated{list[i].State.Terminated, list[i].LastTerminationState.Terminated} {
				if state == nil {
					continue
				}
				if at, ok := v.believe("status.containerStatuses.finishedAt", state.FinishedAt.Time); ok {
					last = max(last, at)
				}
				if at, ok := v.believe("status.containerStatuses.startedAt", state.StartedAt.Time); ok && (first == 0 || at < first) {
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
