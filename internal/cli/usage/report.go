package usage

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Report is the JSON of usage from a list of pods.
type Report struct {
	SchemaVersion           int     `json:"schema_version"`
	ConsumedGPUHours        string  `json:"consumed_gpu_hours"`
	ConsumedMilliGPUSeconds int64   `json:"consumed_milli_gpu_seconds"`
	RemainingGPUHours       *string `json:"remaining_gpu_hours"`
	Exceeded                *bool   `json:"exceeded"`
	// ExceededSince is when usage in the rolling window last reached the limit.
	ExceededSince *time.Time `json:"exceeded_since"`
	TrackedPods   int        `json:"tracked_pods"`
	Pods          []Pod      `json:"pods"`
	// unshown is the part of the usage that counts towards no limit, since nothing
	// shows what the pods' nodes have.
	unshown int64
}

// Pod is one pod that held GPUs in the window. Start and End are those of its whole
// interval; End is null while the pod holds them.
type Pod struct {
	UID       string     `json:"uid"`
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	GPUs      string     `json:"gpus"`
	Start     time.Time  `json:"start"`
	End       *time.Time `json:"end"`
	EndSource *string    `json:"end_source"`
	GPUHours  string     `json:"gpu_hours"` // in the window
}

// report measures the pods by the rules of a budget that selects the same.
func (p *podList) report(q question) (Report, error) {
	declared := budget.Declaration{Name: "usage", Window: q.window, CountFrom: q.from}
	if len(p.others) > 0 {
		declared.Selector.MatchExpressions = []budget.Expression{{Key: otherLabel, Operator: "DoesNotExist"}}
	}
	meter, err := declared.Meter(q.at, budget.ClaimsOf(p.all), time.LoadLocation)
	if err != nil {
		return Report{}, err
	}
	report := Report{SchemaVersion: 1, Pods: []Pod{}}
	for i := range p.records {
		r := &p.records[i]
		used, ok := meter.Pod(r)
		if !ok || !used.Start.Before(q.at) {
			continue
		}
		report.ConsumedMilliGPUSeconds += used.Consumed
		if r.Allocation.Shown == 0 {
			report.unshown += used.Consumed
		}
		report.Pods = append(report.Pods, podOf(r, used))
	}
	slices.SortFunc(report.Pods, func(a, b Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	report.TrackedPods = len(report.Pods)
	report.ConsumedGPUHours = budget.Hours(report.ConsumedMilliGPUSeconds)
	return report, p.compare(q, declared, &report)
}

// podOf is what one pod used.
func podOf(r *ledger.Record, used budget.PodUsage) Pod {
	pod := Pod{
		UID: r.UID, Namespace: r.Set.Namespace, Name: r.Name, GPUs: budget.GPUs(used.GPUs),
		Start: used.Start.UTC(), GPUHours: budget.Hours(used.Consumed),
	}
	if !r.Open() {
		end, source := time.UnixMilli(int64(max(r.End.At, ledger.Time(used.Start.UnixMilli())))).UTC(), string(r.End.Source)
		if r.End.Estimated() { // as it is counted
			end = used.End.UTC()
		}
		pod.End, pod.EndSource = &end, &source
	}
	return pod
}

// compare adds what depends on a limit.
func (p *podList) compare(q question, declared budget.Declaration, report *Report) error {
	if q.limit == 0 {
		return nil
	}
	remaining := budget.Hours(max(0, q.limit-report.ConsumedMilliGPUSeconds))
	exceeded := report.ConsumedMilliGPUSeconds-report.unshown >= q.limit
	report.RemainingGPUHours, report.Exceeded = &remaining, &exceeded
	if !exceeded {
		return nil
	}
	declared.GPUHours = budget.Hours(q.limit)
	result := budget.Evaluate([]budget.Declaration{declared}, p.all, ledger.Header{}, q.at, time.LoadLocation)[0]
	report.ExceededSince = result.ExceededSince
	return result.Err
}
