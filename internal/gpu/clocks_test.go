package gpu_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// finished is a pod whose container ran from the second minute to a later one, on a node whose
// clock is some minutes ahead.
func finished(minutes, ahead float64) *corev1.Pod {
	p := pod(asks("nvidia.com/gpu=1"))
	p.Status.Phase = corev1.PodSucceeded
	p.Status.ContainerStatuses = with(ran(at(2+ahead), at(minutes+ahead)))
	transition(p, corev1.PodReady, corev1.ConditionFalse, at(minutes+ahead))
	return p
}

func statusWrote(p *corev1.Pod, minutes float64) *corev1.Pod {
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Subresource: "status", Time: ptr(at(minutes))}}
	return p
}

func TestANodesClockThatIsAheadMovesNoEndPastItsWrite(t *testing.T) {
	t.Parallel()
	wantEnd(t, see(t, statusWrote(finished(30, 5), 30)), 30, ledger.ContainerFinished)
	// A container's end is missing, and the other source of the end is ahead as well.
	lost := statusWrote(finished(30, 5), 30)
	lost.Status.ContainerStatuses = append(lost.Status.ContainerStatuses, corev1.ContainerStatus{State: running(at(3))})
	wantEnd(t, see(t, lost), 30, ledger.ContainerFinished)
	// A later write does not move the end.
	wantEnd(t, see(t, statusWrote(finished(30, 0), 31)), 30, ledger.ContainerFinished)
	// A user who can edit a pod can edit the times of its writes.
	wantEnd(t, see(t, statusWrote(finished(60, 0), 2)), 60, ledger.ContainerFinished)
}

// TestANodesClockThatIsBehindMakesNothingEndless: if only that clock knows the end, the pod held
// its devices for as long as its containers ran.
func TestANodesClockThatIsBehindMakesNothingEndless(t *testing.T) {
	t.Parallel()
	p := finished(30, -60)
	s := see(t, p)
	wantEnd(t, s, 29, ledger.ContainerFinished) // from its binding, at the first minute
	doubted(t, s, "before the pod's creation")
	later := table(t).Observe(p, gpu.World{Now: now.Add(24 * time.Hour)})
	wantEnd(t, later, 29, ledger.ContainerFinished)

	unstarted := finished(30, -60)
	unstarted.Status.ContainerStatuses[0].State.Terminated.StartedAt = metav1.Time{}
	wantEnd(t, see(t, unstarted), 1, ledger.ContainerFinished)
	wantEnd(t, see(t, statusWrote(finished(30, -60), 30)), 30, ledger.StatusWritten)
}

// TestAnEndedPodIsNeverOpenAsOfAMoment before its deletion was due.
func TestAnEndedPodIsNeverOpenAsOfAMoment(t *testing.T) {
	t.Parallel()
	p := failed("Evicted")
	p.DeletionTimestamp = ptr(at(90))
	s := table(t).Observe(p, gpu.World{Now: at(60).Time, Read: now})
	wantEnd(t, s, 60, ledger.DeletionTimestamp)
}

// TestEndsByAnyClock: with any node clock within clockSkew, an ended pod ended between its start
// and the write of its status. Later observations agree.
func TestEndsByAnyClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		end := rapid.IntRange(3, 60).Draw(r, "end")
		ahead := rapid.IntRange(-120, 5).Draw(r, "ahead")
		p := finished(float64(end), float64(ahead))
		written := rapid.Bool().Draw(r, "written")
		if written {
			statusWrote(p, float64(end))
		}
		s := see(t, p)
		if s.End.Open() || s.End.At < s.Scheduled.At || written && s.End.At.Time().After(at(float64(end)).Time) {
			r.Fatalf("it ran until minute %d, and ends %v (%s)", end, s.End.At, s.End.Source)
		}
		if again := table(t).Observe(p, gpu.World{Now: now.Add(48 * time.Hour)}); again.End != s.End {
			r.Fatalf("the end moved from %v to %v", s.End, again.End)
		}
	})
}
