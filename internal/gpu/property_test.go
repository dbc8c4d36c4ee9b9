package gpu_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

var countedNames = []string{
	"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/gpucores", "nvidia.com/gpumem-percentage", "amd.com/gpu", "tke.cloud.tencent.com/qgpu-core", "cpu",
}

func anyContainer() *rapid.Generator[corev1.Container] {
	return rapid.Custom(func(r *rapid.T) corev1.Container {
		var text string
		for _, name := range countedNames {
			if rapid.Bool().Draw(r, "asks for "+name) {
				text += name + "=" + rapid.StringMatching(`[0-9]{1,2}`).Draw(r, name) + " "
			}
		}
		if rapid.Bool().Draw(r, "sidecar") {
			return sidecar(text)
		}
		return asks(text)
	})
}

func anyTime(r *rapid.T, what string) metav1.Time {
	switch rapid.IntRange(0, 9).Draw(r, "kind of "+what) {
	case 0:
		return metav1.Time{}
	case 1:
		return metav1.Unix(0, 0)
	case 2:
		return metav1.Date(rapid.IntRange(-5, 9999).Draw(r, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return at(float64(rapid.IntRange(-30, 150).Draw(r, what)))
}

func anyState(r *rapid.T) corev1.ContainerState {
	switch rapid.IntRange(0, 3).Draw(r, "state") {
	case 0:
		return running(anyTime(r, "started"))
	case 1:
		return ran(anyTime(r, "started"), anyTime(r, "finished"))
	case 2:
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
	}
	return corev1.ContainerState{}
}

func anyPod() *rapid.Generator[*corev1.Pod] {
	return rapid.Custom(func(r *rapid.T) *corev1.Pod {
		p := pod(rapid.SliceOfN(anyContainer(), 0, 3).Draw(r, "containers")...)
		p.Spec.InitContainers = rapid.SliceOfN(anyContainer(), 0, 3).Draw(r, "init containers")
		p.CreationTimestamp = anyTime(r, "created")
		p.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{
			"", corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown,
		}).Draw(r, "phase")
		p.Status.Reason = rapid.SampledFrom([]string{"", "Evicted", "OutOfcpu"}).Draw(r, "reason")
		p.Status.Conditions = nil
		for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReady, corev1.ContainersReady, corev1.DisruptionTarget} {
			status := rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}).Draw(r, "status")
			if rapid.Bool().Draw(r, "has "+string(kind)) {
				transition(p, kind, status, anyTime(r, string(kind)))
			}
		}
		for range rapid.IntRange(0, 3).Draw(r, "statuses") {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{State: anyState(r), LastTerminationState: anyState(r)})
		}
		if rapid.Bool().Draw(r, "deleted") {
			p.DeletionTimestamp = ptr(anyTime(r, "deletion"))
		}
		if rapid.Bool().Draw(r, "has a start time") {
			p.Status.StartTime = ptr(anyTime(r, "start time"))
		}
		if rapid.Bool().Draw(r, "was written") {
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: ptr(anyTime(r, "written"))}}
		}
		if rapid.Bool().Draw(r, "unbound") {
			p.Spec.NodeName = ""
		}
		return p
	})
}

func anyWorld(r *rapid.T) gpu.World {
	return rapid.SampledFrom([]gpu.World{
		world(nil), worldOf(), worldOf(gpu.Node{Name: "node-1", NotReady: true}), {Now: now},
		world(map[string]string{
			"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-2g.10gb", "nvidia.com/gpu.replicas": "3", "nvidia.com/gpu.memory": "9856",
		}),
	}).Draw(r, "world")
}

// sane fails if the result for a pod is impossible.
func sane(t interface{ Fatalf(string, ...any) }, p *corev1.Pod, s gpu.Pod, latest time.Time) {
	terminal := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	bound := p.Spec.NodeName != "" && p.Status.StartTime != nil
	for _, share := range s.Shares {
		if share.Units.Sign() <= 0 || share.Weight.Sign() <= 0 {
			t.Fatalf("it holds %s of %s at %s", share.Units, share.Resource, share.Weight)
		}
		if new(big.Rat).Mul(share.Units, share.Weight).Cmp(big.NewRat(10_000, 1)) > 0 {
			t.Fatalf("it holds %s of %s at %s", share.Units, share.Resource, share.Weight)
		}
	}
	for _, start := range []ledger.Start{s.Scheduled, s.Running} {
		switch {
		case (start.At == 0) != (start.Source == ""):
			t.Fatalf("the start is %+v", start)
		case start.At.Time().After(latest):
			t.Fatalf("it starts %v, after %v", start.At.Time(), latest)
		case !bound && start.At != 0:
			t.Fatalf("it is not bound, and starts %v", start.At.Time())
		case start.At != 0 && start.At.Time().Year() < 2000:
			t.Fatalf("it starts in %d", start.At.Time().Year())
		}
	}
	switch {
	case s.End.Open() && terminal && s.Scheduled.At != 0:
		t.Fatalf("it has ended, and its interval is open")
	case s.End.At.Time().After(latest):
		t.Fatalf("it ends %v, after %v", s.End.At.Time(), latest)
	case !s.End.Open() && s.End.At < s.Scheduled.At:
		t.Fatalf("it ends %v before it starts %v", s.End.At.Time(), s.Scheduled.At.Time())
	case !bound && s.End != (ledger.End{}):
		t.Fatalf("it is not bound, and ends %v", s.End)
	}
}

func TestWhatIsToldIsSane(t *testing.T) {
	t.Parallel()
	weights := table(t)
	rapid.Check(t, func(r *rapid.T) {
		p := anyPod().Draw(r, "pod")
		before := p.DeepCopy()
		s := weights.Observe(p, anyWorld(r))
		sane(r, p, s, now)
		if diff := cmp.Diff(before, p); diff != "" {
			r.Fatalf("looking at the pod changed it: %s", diff)
		}
		if len(s.Shares) > 0 && !weights.MayHold(p) {
			r.Fatalf("it holds %v, and could not", s.Shares)
		}
	})
}

// TestLookingLaterChangesNothing: past starts and ends do not move.
func TestLookingLaterChangesNothing(t *testing.T) {
	t.Parallel()
	weights := table(t)
	rapid.Check(t, func(r *rapid.T) {
		p, w := anyPod().Draw(r, "pod"), anyWorld(r)
		first := weights.Observe(p, w)
		if len(first.Problems) > 0 {
			return // a time in the future is accepted once it is past
		}
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(0, 10_000).Draw(r, "seconds")) * time.Second)
		second := weights.Observe(p, w)
		ahead := func(at ledger.Time) bool { return at == ledger.TimeOf(now) } // it was cut off there
		if second.Scheduled != first.Scheduled && !ahead(first.Scheduled.At) {
			r.Fatalf("the start moved from %v to %v", first.Scheduled, second.Scheduled)
		}
		if first.End.Open() || first.End.Source == ledger.SeenTerminal || ahead(first.End.At) || ahead(first.Scheduled.At) {
			return
		}
		if second.End != first.End {
			r.Fatalf("the end moved from %v to %v", first.End, second.End)
		}
	})
}

func held(t *gpu.Table, w gpu.World, p *corev1.Pod) *big.Rat {
	sum := new(big.Rat)
	for _, share := range t.Observe(p, w).Shares {
		sum.Add(sum, new(big.Rat).Mul(share.Units, share.Weight))
	}
	return sum
}

func TestTheOrderOfContainersIsNothing(t *testing.T) {
	t.Parallel()
	weights := table(t, "cpu=1/4")
	rapid.Check(t, func(r *rapid.T) {
		p, w := anyPod().Draw(r, "pod"), anyWorld(r)
		before := held(weights, w, p)
		p.Spec.Containers = rapid.Permutation(p.Spec.Containers).Draw(r, "permutation")
		if after := held(weights, w, p); after.Cmp(before) != 0 {
			r.Fatalf("%s GPUs in one order, %s in another", before.RatString(), after.RatString())
		}
	})
}

func TestMoreIsNeverLess(t *testing.T) {
	t.Parallel()
	weights := table(t, "cpu=1/4")
	rapid.Check(t, func(r *rapid.T) {
		p, w := anyPod().Draw(r, "pod"), anyWorld(r)
		before := held(weights, w, p)
		more := anyContainer().Draw(r, "one more")
		if rapid.Bool().Draw(r, "as an init container") {
			p.Spec.InitContainers = append(p.Spec.InitContainers, more)
		} else {
			p.Spec.Containers = append(p.Spec.Containers, more)
		}
		if after := held(weights, w, p); after.Cmp(before) < 0 {
			r.Fatalf("%s GPUs, and with one container more %s", before.RatString(), after.RatString())
		}
	})
}

func TestLimitsStandForRequests(t *testing.T) {
	t.Parallel()
	weights := table(t, "cpu=1/4")
	rapid.Check(t, func(r *rapid.T) {
		p, w := anyPod().Draw(r, "pod"), anyWorld(r)
		before := held(weights, w, p)
		for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range containers {
				if rapid.Bool().Draw(r, "drop requests") {
					containers[i].Resources.Requests = nil
				}
			}
		}
		if after := held(weights, w, p); after.Cmp(before) != 0 {
			r.Fatalf("%s GPUs by request, %s by limit", before.RatString(), after.RatString())
		}
	})
}
