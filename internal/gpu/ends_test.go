package gpu_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func wantEnd(t *testing.T, s gpu.Pod, minutes float64, source ledger.Source) {
	t.Helper()
	if !s.End.At.Time().Equal(at(minutes).Time) || s.End.Source != source {
		t.Errorf("it ends %s (%s), want %s (%s)", s.End.At.Time().Format(time.TimeOnly), s.End.Source, at(minutes).UTC().Format(time.TimeOnly), source)
	}
}

func wantOpen(t *testing.T, s gpu.Pod) {
	t.Helper()
	if s.End != (ledger.End{}) {
		t.Errorf("it ended %s (%s), and it holds its devices", s.End.At.Time().Format(time.TimeOnly), s.End.Source)
	}
}

// failed is a pod that the kubelet evicted, or that failed in another way.
func failed(reason string) *corev1.Pod {
	p := pod(asks("nvidia.com/gpu=1"))
	p.Status.Phase, p.Status.Reason = corev1.PodFailed, reason
	return p
}

func TestEvictedByKubeletWithoutStatuses(t *testing.T) {
	t.Parallel()
	p := failed("Evicted")
	transition(p, corev1.DisruptionTarget, corev1.ConditionTrue, at(31))
	s := see(t, p)
	wantEnd(t, s, 31, ledger.DisruptionTarget)
	undoubted(t, s)

	older := failed("Evicted") // before the condition existed
	transition(older, corev1.PodReady, corev1.ConditionFalse, at(30))
	wantEnd(t, see(t, older), 30, ledger.NotReady)
}

func TestEvictedByKubeletWithZeroTimes(t *testing.T) {
	t.Parallel()
	zero := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}}
	epoch := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 137, StartedAt: metav1.Unix(0, 0), FinishedAt: metav1.Unix(0, 0),
	}}
	for _, state := range []corev1.ContainerState{zero, epoch} {
		p := failed("Evicted")
		p.Status.ContainerStatuses = with(state)
		transition(p, corev1.DisruptionTarget, corev1.ConditionTrue, at(45))
		s := see(t, p)
		wantEnd(t, s, 45, ledger.DisruptionTarget)
		undoubted(t, s)
	}
}

func TestOneZeroEndAmongOthers(t *testing.T) {
	t.Parallel()
	p := failed("Evicted")
	p.Status.ContainerStatuses = with(ran(at(2), at(20)), corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "ContainerStatusUnknown"}})
	transition(p, corev1.DisruptionTarget, corev1.ConditionTrue, at(50))
	wantEnd(t, see(t, p), 50, ledger.DisruptionTarget)

	p.Status.ContainerStatuses[0].State = ran(at(2), at(55))
	wantEnd(t, see(t, p), 55, ledger.ContainerFinished)
}

func TestFailedPodWhoseContainerStillReadsRunning(t *testing.T) {
	t.Parallel()
	p := failed("NodeLost")
	p.Status.ContainerStatuses = with(running(at(2)))
	transition(p, corev1.PodReady, corev1.ConditionFalse, at(40))
	s := see(t, p)
	wantEnd(t, s, 40, ledger.NotReady)

	// The end of an init container long before is not the pod's end.
	p.Status.InitContainerStatuses = with(ran(at(1), at(2)))
	wantEnd(t, see(t, p), 40, ledger.NotReady)

	// Not even if the others have no status left.
	lost := p.DeepCopy()
	lost.Status.ContainerStatuses = nil
	wantEnd(t, see(t, lost), 40, ledger.NotReady)

	// There is no evidence: it ended by now, and is never open.
	bare := failed("NodeLost")
	bare.Status.ContainerStatuses = with(running(at(2)))
	bare.Status.InitContainerStatuses = with(ran(at(1), at(2)))
	wantEnd(t, see(t, bare), 120, ledger.SeenTerminal)
}

func TestStuckTerminatingOnAGoneNode(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu=1"))
	p.Status.ContainerStatuses = with(running(at(2)))
	deleted := at(60)
	p.DeletionTimestamp = &deleted
	gone := table(t).Observe(p, worldOf())
	wantEnd(t, gone, 60, ledger.DeletionTimestamp)
	if !gone.Node.Gone || gone.Node.Name != "node-1" {
		t.Errorf("the node is %+v, want it to be gone", gone.Node)
	}
	silent := table(t).Observe(p, worldOf(gpu.Node{Name: "node-1", NotReady: true}))
	wantEnd(t, silent, 60, ledger.DeletionTimestamp)

	// On an existing node the pod really holds the devices.
	wantOpen(t, see(t, p))
	wantOpen(t, table(t).Observe(p, gpu.World{Now: now}))
}

func TestTerminatingWithinItsGrace(t *testing.T) {
	t.Parallel()
	for _, minutes := range []float64{121, 120, 119.6} { // the last is 24 s ago
		p := pod(asks("nvidia.com/gpu=1"))
		deleted := at(minutes)
		p.DeletionTimestamp = &deleted
		s := table(t).Observe(p, worldOf())
		wantOpen(t, s)
		if s.Deletion != ledger.TimeOf(deleted.Time) {
			t.Errorf("the deletion is %v", s.Deletion.Time())
		}
	}
}

// TestTerminatingForALongTime: a deletion timestamp includes the grace period, and so is in the future of
// an ordinary pod on an unreachable node. One that no grace explains is not believed.
func TestTerminatingForALongTime(t *testing.T) {
	t.Parallel()
	for minutes, want := range map[float64]bool{120 + 170: false, 120 + 180: false, 120 + 190: true} {
		p := pod(asks("nvidia.com/gpu=1"))
		p.Status.ContainerStatuses = with(running(at(2)))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr(at(minutes)), ptr(int64(3*3600))
		s := table(t).Observe(p, worldOf(gpu.Node{Name: "node-1", NotReady: true}))
		wantOpen(t, s)
		if doubts := strings.Join(s.Problems.Texts(), "; "); strings.Contains(doubts, "its metadata.deletionTimestamp is") != want {
			t.Errorf("due %v minutes after its creation: %q", minutes, doubts)
		}
	}
	p := failed("NodeLost") // it ended before its deletion was due
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr(at(290)), ptr(int64(3*3600))
	s := table(t).Observe(p, worldOf())
	wantEnd(t, s, 120, ledger.DeletionTimestamp)
	undoubted(t, s)
}

func TestRejectedPodsHeldNothing(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"OutOfnvidia.com/gpu", "UnexpectedAdmissionError", "TopologyAffinityError", "NodeShutdown"} {
		p := failed(reason)
		if reason == "NodeShutdown" {
			p.Status.Message = "Pod was rejected: Pod was rejected as the node is shutting down."
		}
		p.Status.StartTime = ptr(at(1))
		transition(p, corev1.PodReady, corev1.ConditionFalse, at(60))
		s := see(t, p)
		wantEnd(t, s, 1, ledger.Rejected)
		if s.Scheduled.At != s.End.At {
			t.Errorf("%s: it held for %s", reason, s.End.At.Time().Sub(s.Scheduled.At.Time()))
		}
	}
	// The time of the rejection is reported too, for a ledger that knows that it ran before.
	again := failed("UnexpectedAdmissionError")
	again.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: ptr(at(100))}}
	again.Status.ContainerStatuses = with(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
	wantEnd(t, see(t, again), 1, ledger.Rejected)
	if refused := see(t, again).Refused; !refused.Time().Equal(at(100).Time) {
		t.Errorf("it was refused at %v", refused.Time())
	}
	// One that ran and was then evicted did hold its devices.
	p := failed("Evicted")
	p.Status.ContainerStatuses = with(ran(at(2), at(60)))
	wantEnd(t, see(t, p), 60, ledger.ContainerFinished)
}

func TestEndsOfPodsThatEnded(t *testing.T) {
	t.Parallel()
	wrote := func(p *corev1.Pod, minutes float64, subresource string) {
		p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{Subresource: subresource, Time: ptr(at(minutes))})
	}
	for _, tt := range []struct {
		name   string
		change func(p *corev1.Pod)
		end    float64
		source ledger.Source
	}{
		{"the last container", func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = with(ran(at(1), at(5)))
			p.Status.ContainerStatuses = with(ran(at(6), at(30)), ran(at(6), at(20)))
		}, 30, ledger.ContainerFinished},
		{"a sidecar that outlives the rest", func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = with(ran(at(1), at(33)))
			p.Status.ContainerStatuses = with(ran(at(6), at(30)))
		}, 33, ledger.ContainerFinished},
		{"a container that never ran", func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = with(ran(at(1), at(4)))
			p.Status.ContainerStatuses = with(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}})
			transition(p, corev1.PodReady, corev1.ConditionFalse, at(1))
		}, 4, ledger.ContainerFinished},
		{"a container that waited to be restarted", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: ran(at(8), at(10)),
			}}
			transition(p, corev1.DisruptionTarget, corev1.ConditionTrue, at(70))
		}, 70, ledger.DisruptionTarget},
		{"no longer ready", func(p *corev1.Pod) {
			transition(p, corev1.PodReady, corev1.ConditionFalse, at(40))
			transition(p, corev1.ContainersReady, corev1.ConditionFalse, at(41))
		}, 41, ledger.NotReady},
		{"the deletion", func(p *corev1.Pod) { p.DeletionTimestamp = ptr(at(50)); wrote(p, 51, "status") }, 50, ledger.DeletionTimestamp},
		{"a deletion still to come", func(p *corev1.Pod) { p.DeletionTimestamp = ptr(at(121)) }, 120, ledger.DeletionTimestamp},
		{"the last write of the status", func(p *corev1.Pod) {
			wrote(p, 60, "status")
			wrote(p, 20, "status")
			wrote(p, 90, "")
		}, 60, ledger.StatusWritten},
		{"never ready, and evicted", func(p *corev1.Pod) {
			p.Status.StartTime = ptr(at(2))
			transition(p, corev1.PodReady, corev1.ConditionFalse, at(2))
			wrote(p, 80, "status")
		}, 80, ledger.StatusWritten},
		{"nothing tells", func(*corev1.Pod) {}, 120, ledger.SeenTerminal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := failed("")
			tt.change(p)
			wantEnd(t, see(t, p), tt.end, tt.source)
		})
	}
}

// TestEndBeforeTheCreation looks for another end, since an end before the creation would hide the
// pod. Within clockSkew the pod held nothing.
func TestEndBeforeTheCreation(t *testing.T) {
	t.Parallel()
	p := failed("")
	p.Status.ContainerStatuses = with(ran(at(-60), at(-50)))
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: ptr(at(60))}}
	s := see(t, p)
	wantEnd(t, s, 60, ledger.StatusWritten)
	doubted(t, s, "status.containerStatuses.finishedAt is 2026")
	doubted(t, s, "before the pod's creation")

	p.Status.ContainerStatuses = with(ran(at(-1), at(-1)))
	wantEnd(t, see(t, p), 1, ledger.ContainerFinished)

	mirror := p.DeepCopy()
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "h"}
	mirror.Status.ContainerStatuses = with(ran(at(-60), at(-50)))
	s = see(t, mirror)
	wantEnd(t, s, 1, ledger.ContainerFinished)
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].String(), "static pod") {
		t.Errorf("problems: %q", s.Problems)
	}
}
