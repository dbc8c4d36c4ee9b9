package gpu_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func see(t *testing.T, p *corev1.Pod) gpu.Pod {
	t.Helper()
	return table(t).Observe(p, world(nil))
}

func wantStart(t *testing.T, got ledger.Start, minutes float64, source ledger.Source) {
	t.Helper()
	if !got.At.Time().Equal(at(minutes).Time) || got.Source != source {
		t.Errorf("it starts %s (%s), want %s (%s)", got.At.Time().Format(time.TimeOnly), got.Source, at(minutes).UTC().Format(time.TimeOnly), source)
	}
}

func TestRestartedContainerKeepsItsPast(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu=1"))
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		RestartCount: 3, State: running(at(100)), LastTerminationState: ran(at(80), at(99)),
	}}
	s := see(t, p)
	wantStart(t, s.Scheduled, 1, ledger.PodScheduled)
	wantStart(t, s.Running, 80, ledger.ContainerStarted) // the earliest visible run
	wantOpen(t, s)
}

func TestUsageDoesNotFallWhenTheContainerStarts(t *testing.T) {
	t.Parallel()
	pulling := pod(asks("nvidia.com/gpu=1"))
	pulling.Status.Phase = corev1.PodPending
	pulling.Status.ContainerStatuses = with(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
	before := see(t, pulling)
	wantStart(t, before.Scheduled, 1, ledger.PodScheduled)
	if before.Running != (ledger.Start{}) {
		t.Errorf("it runs since %v, and it pulls its image", before.Running)
	}
	started := pulling.DeepCopy()
	started.Status.Phase = corev1.PodRunning
	started.Status.ContainerStatuses = with(running(at(90)))
	after := see(t, started)
	if after.Scheduled != before.Scheduled {
		t.Errorf("the start moved from %v to %v", before.Scheduled, after.Scheduled)
	}
	wantStart(t, after.Running, 90, ledger.ContainerStarted)
}

func TestPendingUnscheduledPodsHoldNothing(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"Unschedulable", "SchedulingGated"} {
		p := pod(asks("nvidia.com/gpu=1"))
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, LastTransitionTime: at(1)}}
		s := see(t, p)
		if s.Scheduled != (ledger.Start{}) || s.Running != (ledger.Start{}) {
			t.Errorf("%s: it holds since %v", reason, s.Scheduled)
		}
		if gpus(s) != "1" {
			t.Errorf("%s: it is to hold %s GPUs, want 1", reason, gpus(s))
		}
		p.Status.Phase = corev1.PodFailed
		wantOpen(t, see(t, p)) // there is no interval to end
	}
}

func TestStarts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(p *corev1.Pod)
		start  float64
		source ledger.Source
	}{
		{"scheduled", func(*corev1.Pod) {}, 1, ledger.PodScheduled},
		{"a condition without a time", func(p *corev1.Pod) {
			p.Status.Conditions[0].LastTransitionTime = metav1.Time{}
			p.Status.StartTime = ptr(at(2))
		}, 2, ledger.StartTime},
		{"bound by hand, and not judged yet", func(p *corev1.Pod) {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
			p.Status.StartTime = ptr(at(2))
		}, 2, ledger.StartTime},
		{"a static pod", func(p *corev1.Pod) { p.Status.Conditions = nil; p.Status.StartTime = ptr(at(3)) }, 3, ledger.StartTime},
		{"containers alone", func(p *corev1.Pod) {
			p.Status.Conditions, p.Status.StartTime = nil, ptr(metav1.Unix(0, 0))
			p.Status.InitContainerStatuses = with(ran(at(4), at(5)))
			p.Status.ContainerStatuses = with(running(at(6)))
		}, 4, ledger.ContainerStarted},
		{"nothing but the creation", func(p *corev1.Pod) { p.Status.Conditions, p.Status.StartTime = nil, ptr(metav1.Unix(0, 0)) }, 0, ledger.Created},
		{"never before the creation", func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = at(-10) }, 0, ledger.PodScheduled},
		{"a clock that is ahead", func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = at(121) }, 120, ledger.PodScheduled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := pod(asks("nvidia.com/gpu=1"))
			tt.change(p)
			wantStart(t, see(t, p).Scheduled, tt.start, tt.source)
		})
	}
}

func TestAbsurdTimesAreProblems(t *testing.T) {
	t.Parallel()
	yearOne := metav1.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	future := metav1.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, absurd := range []metav1.Time{yearOne, future} {
		p := failed("")
		p.Status.Conditions[0].LastTransitionTime = absurd
		p.Status.StartTime = ptr(at(2))
		p.Status.ContainerStatuses = with(ran(absurd, absurd))
		transition(p, corev1.PodReady, corev1.ConditionFalse, at(30))
		s := see(t, p)
		wantStart(t, s.Scheduled, 2, ledger.StartTime)
		wantEnd(t, s, 30, ledger.NotReady)
		doubted(t, s, "status.conditions[PodScheduled].lastTransitionTime")
		doubted(t, s, "status.containerStatuses.finishedAt")
	}

	none := pod(asks("nvidia.com/gpu=1"))
	none.CreationTimestamp, none.Status.Conditions, none.Status.StartTime = metav1.Time{}, nil, ptr(metav1.Unix(0, 0))
	s := see(t, none)
	if s.Scheduled != (ledger.Start{}) {
		t.Errorf("it starts %v, and nothing tells when", s.Scheduled)
	}
	doubted(t, s, "nothing tells when it started")
	doubted(t, s, "no creation timestamp")

	backwards := failed("")
	backwards.Status.ContainerStatuses = with(ran(at(50), at(-5)))
	if s := see(t, backwards); s.End.At < s.Scheduled.At {
		t.Errorf("it ends %v before it starts %v", s.End.At.Time(), s.Scheduled.At.Time())
	}
}

func TestWhatWasReadLaterIsBelieved(t *testing.T) {
	t.Parallel()
	p := failed("")
	p.Status.ContainerStatuses = with(ran(at(2), at(300)))
	s := table(t).Observe(p, gpu.World{Now: now, Read: at(600).Time})
	wantOpen(t, s) // as of now it still holds its devices
	undoubted(t, s)
	wantEnd(t, table(t).Observe(p, gpu.World{Now: at(300).Time}), 300, ledger.ContainerFinished)
}

// TestLabelsThatNoRecordKeeps: budgets judge by records, so a pod that no budget counts because of
// its many labels is reported.
func TestLabelsThatNoRecordKeeps(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu=1"))
	p.Labels = map[string]string{"team": "a"}
	undoubted(t, see(t, p))
	for n := range 2000 {
		p.Labels[fmt.Sprintf("a%04d", n)] = strings.Repeat("x", 63)
	}
	doubted(t, see(t, p), "more labels than records keep")
}

func TestWhatIsKeptOfAPod(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu=1"))
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "Node", Name: "n"}, {APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u", Controller: &yes}}
	p.Labels = map[string]string{"team": "a"}
	p.Annotations = map[string]string{"gpupool/protected": "true", "other": "x", corev1.MirrorPodAnnotationKey: "h"}
	p.Spec.Priority, p.Spec.PriorityClassName = ptr(int32(7)), "high"
	s := see(t, p)
	if s.Owner == nil || *s.Owner != (ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u"}) {
		t.Errorf("the owner is %+v", s.Owner)
	}
	if s.Labels["team"] != "a" || s.UID != "uid-1" || s.Namespace != "ml" || s.Name != "train" || s.Node.Name != "node-1" {
		t.Errorf("the pod is %+v", s)
	}
	if l := s.Live; l.Phase != "Running" || l.Priority != 7 || l.PriorityClassName != "high" || !l.Mirror || len(l.Annotations) != 1 ||
		l.Annotations["gpupool/protected"] != "true" {
		t.Errorf("what enforcement asks is %+v", s.Live)
	}
	p.UID = ""
	doubted(t, see(t, p), "no uid")
}

func ptr[T any](v T) *T { return &v }
