package usage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func TestUsageForPeople(t *testing.T) {
	t.Parallel()
	ptr := func(s string) *string { return &s }
	yes, no, end := true, false, clitest.At.Add(-time.Hour)
	pods := []Pod{
		{UID: "u1", Namespace: "ml", Name: "train", GPUs: "2", Start: clitest.At.Add(-2 * time.Hour), GPUHours: "4.000"},
		{UID: "u2", Namespace: "ml-batch", Name: "slices", GPUs: "1/7", Start: clitest.At.Add(-8 * time.Hour), End: &end, EndSource: ptr("container_finished"), GPUHours: "1.000"},
	}
	within := Report{ConsumedGPUHours: "5.000", ConsumedMilliGPUSeconds: 5 * budget.Hour, RemainingGPUHours: ptr("5.000"), Exceeded: &no, TrackedPods: 2, Pods: pods}
	beyond := within
	since := clitest.At.Add(-30 * time.Minute)
	beyond.Exceeded, beyond.ExceededSince, beyond.RemainingGPUHours = &yes, &since, ptr("0.000")
	for name, tt := range map[string]struct {
		style  terminal.Style
		report Report
		limit  int64
	}{
		"usage.txt":                  {clitest.Plain, within, 10 * budget.Hour},
		"usage_colours.txt":          {clitest.Coloured, within, 10 * budget.Hour},
		"usage_exceeded_colours.txt": {clitest.Coloured, beyond, 4 * budget.Hour},
		"usage_nothing.txt":          {clitest.Plain, Report{ConsumedGPUHours: "0.000"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Golden(t, name, podsText(tt.style, tt.report, question{at: clitest.At, window: "7d", limit: tt.limit}))
		})
	}
}

func TestUsageOfALimit(t *testing.T) {
	t.Parallel()
	no := false
	for _, tt := range []struct {
		used, limit int64
		want        string
	}{
		{0, 3600, "0.0%"},
		{3000, 3600, "83.3%"}, // of a thousandth of an hour
		{3599, 3600, "99.9%"}, // of it all but a millisecond
		{3600, 3600, "100.0%"},
		{45_000_000, 3_603_600, "1248.8%"},
		{1 << 62, budget.MaxGPUHours * budget.Hour, "128102.4%"},
	} {
		left := "0.000"
		r := Report{ConsumedMilliGPUSeconds: tt.used, RemainingGPUHours: &left, Exceeded: &no}
		if got := limitText(clitest.Plain, r, question{limit: tt.limit}); !strings.HasPrefix(got, tt.want+" of ") {
			t.Errorf("%d of %d: %s, want %s", tt.used, tt.limit, got, tt.want)
		}
	}
}

// TestUsageIsTheSumOfItsParts compares with sums done by hand, for lists of
// random pods.
func TestUsageIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	weights, err := gpu.Rules{}.Table()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		hours := rapid.IntRange(1, 48).Draw(r, "window")
		q := question{
			at: clitest.At, read: clitest.At, from: budget.FromScheduled,
			window: fmt.Sprintf("%dh", hours), length: time.Duration(hours) * time.Hour, weights: weights,
			covers: func(string, map[string]string) bool { return true }, limit: int64(rapid.IntRange(1, 1000).Draw(r, "limit")) * budget.Hour,
		}
		begin, seen := q.begin(), &podList{noNodes: true}
		var want int64
		tracked := 0
		for n := range rapid.IntRange(0, 20).Draw(r, "pods") {
			start := clitest.At.Add(-time.Duration(rapid.IntRange(-7200, 3*86400).Draw(r, "started")) * time.Second)
			end := start.Add(time.Duration(rapid.IntRange(0, 86400).Draw(r, "lasted")) * time.Second)
			held := rapid.IntRange(0, 8).Draw(r, "gpus")
			over := end.Before(clitest.At) && rapid.Bool().Draw(r, "over")
			seen.add(q, weights.See(onePod(n, held, start, end, over), gpu.World{Now: clitest.At, Read: clitest.At.Add(24 * time.Hour)}))
			if !over {
				end = clitest.At
			}
			if from, to := later(start, begin), earlier(end, clitest.At); from.Before(to) && held > 0 {
				want += int64(held) * to.Sub(from).Milliseconds()
				tracked++
			}
		}
		report, err := seen.report(q)
		if err != nil {
			r.Fatal(err)
		}
		if report.ConsumedMilliGPUSeconds != want || report.TrackedPods != tracked || len(report.Pods) != tracked {
			r.Fatalf("%d by %d pods, want %d by %d", report.ConsumedMilliGPUSeconds, report.TrackedPods, want, tracked)
		}
		if exceeded := want >= q.limit; *report.Exceeded != exceeded || (report.ExceededSince != nil) != exceeded {
			r.Fatalf("%d of %d: exceeded %t since %v", want, q.limit, *report.Exceeded, report.ExceededSince)
		}
		if since := report.ExceededSince; since != nil && since.After(clitest.At) {
			r.Fatalf("exceeded since %v, at %v", since, clitest.At)
		}
	})
}

func onePod(n, gpus int, start, end time.Time, over bool) *corev1.Pod {
	p := &corev1.Pod{}
	p.UID, p.Namespace, p.Name = types.UID(fmt.Sprint("u", n)), "ml", fmt.Sprint("p", n)
	p.CreationTimestamp = metav1.NewTime(start)
	p.Spec.NodeName = "node-1"
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(int64(gpus), resource.DecimalSI)},
	}}}
	p.Status.Phase = corev1.PodRunning
	p.Status.StartTime = &p.CreationTimestamp
	if over {
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(end)},
		}}}
	}
	return p
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
