package gpu

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// firstStarted returns the earliest known start of a container, from its current and its previous
// run. Ephemeral containers have no devices.
func (v interval) firstStarted() (ledger.Time, bool) {
	var first ledger.Time
	take := func(t time.Time) {
		if at, ok := v.believe("status.containerStatuses.startedAt", t); ok && (first == 0 || at < first) {
			first = at
		}
	}
	for _, list := range [][]corev1.ContainerStatus{v.pod.Status.InitContainerStatuses, v.pod.Status.ContainerStatuses} {
		for i := range list {
			for _, state := range []*corev1.ContainerState{&list[i].State, &list[i].LastTerminationState} {
				if state.Running != nil {
					take(state.Running.StartedAt.Time)
				}
				if state.Terminated != nil {
					take(state.Terminated.StartedAt.Time)
				}
			}
		}
	}
	return first, first != 0
}

// finishes is the end of a pod as its containers' statuses report it.
type finishes struct {
	at   ledger.Time // the latest end of a container
	main bool        // a container that is not an init container ended
	// more says that the end of a started container is missing, so that the pod may have ended
	// later. The container still reads as running, waited for a restart, has no status, or was lost
	// or evicted. A lost one has a zero end and the reason ContainerStatusUnknown.
	more bool
}

func (f finishes) known() bool { return f.at != 0 }

func (v interval) finished() finishes {
	var f finishes
	for i := range v.pod.Status.InitContainerStatuses {
		v.finish(&f, &v.pod.Status.InitContainerStatuses[i], false)
	}
	for i := range v.pod.Status.ContainerStatuses {
		v.finish(&f, &v.pod.Status.ContainerStatuses[i], true)
	}
	f.more = f.more || len(v.pod.Status.ContainerStatuses) == 0
	return f
}

func (v interval) finish(f *finishes, s *corev1.ContainerStatus, main bool) {
	ended := false
	for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
		if t == nil {
			continue
		}
		if at, ok := v.ended("status.containerStatuses.finishedAt", t.FinishedAt.Time); ok {
			f.at = max(f.at, at)
			f.main = f.main || main
			ended = ended || t == s.State.Terminated
		}
	}
	f.more = f.more || hasRun(s) && !ended
}

// hasRun reports whether a container ever started.
func hasRun(s *corev1.ContainerStatus) bool {
	return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
}

func anyRan(list []corev1.ContainerStatus) bool {
	for i := range list {
		if hasRun(&list[i]) {
			return true
		}
	}
	return false
}
