// Package usage is the report on the usage of a budget or a selector, as the CLI and the API
// return it.
package usage

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// Report is the usage of a budget or a selector, from the cluster and the ledger.
type Report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The named budget.
	Budget string `json:"budget,omitempty"`
	*budgets.UsageReport
	// Other budgets that cover some of its pods.
	Overlaps []string `json:"overlaps,omitempty"`
	// The grants in force. The limit includes them.
	Grants []budget.Grant `json:"grants,omitempty"`
	// The pods that held GPUs inside the window.
	Pods []Pod `json:"pods"`
	Listed
	// Everything that could not be measured.
	Warnings reason.Reasons `json:"warnings"`
}

// For returns the usage as a reader of the pods may see it.
func (r Report) For(reader reason.Renderer) Report {
	r.Overlaps = slices.DeleteFunc(slices.Clone(r.Overlaps), func(name string) bool { return !reader.SeesObject(reason.Object("budget/" + name)) })
	r.UsageReport = r.UsageReport.For(reader)
	r.Grants, r.Warnings = reason.Each(r.Grants, reader), reader.RedactAll(r.Warnings)
	return r
}

// Pod is a pod that held GPUs inside the window.
type Pod struct {
	// The UID.
	UID string `json:"uid"`
	// The namespace.
	Namespace string `json:"namespace"`
	// The name.
	Name string `json:"name"`
	// The GPUs: a decimal number, or a fraction such as `1/7`.
	GPUs string `json:"gpus"`
	// The start of the whole interval.
	Start time.Time `json:"start"`
	// The end of the whole interval. Null while the pod holds GPUs.
	End *time.Time `json:"end"`
	// How the end is known: one of the [sources](codes.md#sources-of-starts-and-ends).
	EndSource *string `json:"end_source"`
	// The usage inside the window.
	GPUHours string `json:"gpu_hours"`
	// GPU-hours in addition to the usage that only the pod itself claims. They count for nothing. Absent if there are none.
	UnconfirmedGPUHours string `json:"unconfirmed_gpu_hours,omitempty"`
}

// NewReport returns the report of an answer.
func NewReport(live budgets.LiveUsage, l Listing) Report {
	report := Report{
		SchemaVersion: 1, Budget: live.Declaration.Name, UsageReport: budgets.NewUsageReport(live.Usage, live.At, live.ExceededSince),
		Overlaps: live.Overlaps, Grants: live.Grants, Warnings: append(reason.Reasons{}, live.Warnings...),
	}
	pods := make([]Used, len(live.Pods))
	for n := range live.Pods {
		pods[n] = Used{&live.Pods[n].Record, live.Pods[n].PodUsage}
	}
	report.Pods, report.Listed = l.List(pods)
	return report
}

// newPod returns the usage of one pod. A pod that ended after the time of the question is active.
func newPod(u Used) Pod {
	pod := Pod{
		UID: u.Record.UID, Namespace: u.Record.Set.Namespace, Name: u.Record.Name, GPUs: budget.GPUs(u.GPUs),
		Start: u.Start.UTC(), GPUHours: budget.Hours(u.Consumed), UnconfirmedGPUHours: unconfirmed(u.Unconfirmed),
	}
	if !u.Active {
		end, source := u.End.UTC(), string(u.Record.End.Source)
		pod.End, pod.EndSource = &end, &source
	}
	return pod
}
