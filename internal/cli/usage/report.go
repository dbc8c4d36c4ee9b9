package usage

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// Report is the usage of the pods in a file, from `kubectl get pods -o json`.
type Report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The start of the window.
	WindowStart time.Time `json:"window_start"`
	// The end of the window: the time of the question.
	WindowEnd time.Time `json:"window_end"`
	// The usage inside the window.
	ConsumedGPUHours string `json:"consumed_gpu_hours"`
	// The same usage. One GPU-hour is 3,600,000 milli-GPU-seconds.
	ConsumedMilliGPUSeconds int64 `json:"consumed_milli_gpu_seconds"`
	// The limit less the usage. Null without a limit.
	RemainingGPUHours *string `json:"remaining_gpu_hours"`
	// Whether the usage is at or above the limit. Null without a limit.
	Exceeded *bool `json:"exceeded"`
	// When the usage last reached the limit.
	ExceededSince *time.Time `json:"exceeded_since"`
	// Pods that held GPUs inside the window.
	TrackedPods int `json:"tracked_pods"`
	// These pods.
	Pods []usage.Pod `json:"pods"`
	usage.Listed
}

// report measures the pods like a budget with the same selection.
func (p *podList) report(q question) (Report, error) {
	declared := q.declared
	if len(p.others) > 0 {
		declared.Selector.MatchExpressions = []budget.Expression{{Key: otherLabel, Operator: "DoesNotExist"}}
	}
	counts, err := meter.New(declared, q.at, meter.ClaimsOf(p.all), time.LoadLocation)
	if err != nil {
		return Report{}, err
	}
	report := Report{SchemaVersion: 1, WindowStart: q.begin.UTC(), WindowEnd: q.at.UTC()}
	var pods []usage.Used
	for i := range p.records {
		r := &p.records[i]
		of, ok := counts.Pod(r)
		if !ok || !of.Start.Before(q.at) {
			continue
		}
		report.ConsumedMilliGPUSeconds += of.Consumed
		pods = append(pods, usage.Used{Record: r, PodUsage: of})
	}
	report.TrackedPods = len(pods)
	report.Pods, report.Listed = q.listing.List(pods)
	report.ConsumedGPUHours = budget.Hours(report.ConsumedMilliGPUSeconds)
	return report, p.compare(q, declared, &report)
}

// compare compares the usage with the limit.
func (p *podList) compare(q question, declared budget.Declaration, report *Report) error {
	if q.limit == 0 {
		return nil
	}
	remaining := budget.Hours(max(0, q.limit-report.ConsumedMilliGPUSeconds))
	exceeded := report.ConsumedMilliGPUSeconds >= q.limit
	report.RemainingGPUHours, report.Exceeded = &remaining, &exceeded
	if !exceeded {
		return nil
	}
	declared.GPUHours = budget.Hours(q.limit)
	result := meter.Evaluate([]budget.Declaration{declared}, p.all, ledger.Header{}, q.at, time.LoadLocation)[0]
	report.ExceededSince = result.ExceededSince
	return result.Err
}
