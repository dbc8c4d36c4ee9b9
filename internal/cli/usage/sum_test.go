package usage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/usage"
)

// TestUsageIsTheSumOfItsParts compares with sums done by hand, for lists of
// random pods.
func TestUsageIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		hours := rapid.IntRange(1, 48).Draw(r, "window")
		limit := int64(rapid.IntRange(1, 1000).Draw(r, "limit"))
		begin := clitest.At.Add(-time.Duration(hours) * time.Hour)
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{}}
		var want int64
		tracked := 0
		for n := range rapid.IntRange(0, 20).Draw(r, "pods") {
			start := clitest.At.Add(-time.Duration(rapid.IntRange(-7200, 3*86400).Draw(r, "started")) * time.Second)
			end := start.Add(time.Duration(rapid.IntRange(0, 86400).Draw(r, "lasted")) * time.Second)
			held := rapid.IntRange(0, 8).Draw(r, "gpus")
			over := end.Before(clitest.At) && rapid.Bool().Draw(r, "over")
			list.Items = append(list.Items, *onePod(n, held, start, end, over))
			if !over {
				end = clitest.At
			}
			if from, to := later(start, begin), earlier(end, clitest.At); from.Before(to) && held > 0 {
				want += int64(held) * to.Sub(from).Milliseconds()
				tracked++
			}
		}
		report := usageOf(r, list, fmt.Sprintf("%dh", hours), fmt.Sprint(limit))
		if report.ConsumedMilliGPUSeconds != want || report.TrackedPods != tracked || len(report.Pods) != tracked {
			r.Fatalf("%d by %d pods, want %d by %d", report.ConsumedMilliGPUSeconds, report.TrackedPods, want, tracked)
		}
		if exceeded := want >= limit*budget.Hour; *report.Exceeded != exceeded || (report.ExceededSince != nil) != exceeded {
			r.Fatalf("%d of %d: exceeded %t since %v", want, limit*budget.Hour, *report.Exceeded, report.ExceededSince)
		}
		if since := report.ExceededSince; since != nil && since.After(clitest.At) {
			r.Fatalf("exceeded since %v, at %v", since, clitest.At)
		}
	})
}

// usageOf is what the command prints of a list of pods.
func usageOf(r *rapid.T, pods corev1.PodList, window, limit string) usage.Report {
	text, err := json.Marshal(pods)
	if err != nil {
		r.Fatal(err)
	}
	var out, told bytes.Buffer
	code := cli.Run(process.Process{
		Args:   []string{"usage", "--pods", "-", "--at", clitest.At.Format(time.RFC3339), "--window", window, "--gpu-hours", limit, "-o", "json"},
		Getenv: func(string) string { return "" },
		Stdin:  bytes.NewReader(text), Stdout: &out, Stderr: &told,
		Terminal: func(io.Writer) (width, height int, ok bool) { return 0, 0, false },
		Signals:  func(chan<- os.Signal) (stop func()) { return func() {} },
		Exit:     func(code int) { r.Fatalf("it ended at once, with %d", code) },
		Now:      time.Now,
	})
	var report usage.Report
	if err := json.Unmarshal(out.Bytes(), &report); code != 0 || err != nil {
		r.Fatalf("exit code %d, %v\n%s", code, err, told.String())
	}
	return report
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
