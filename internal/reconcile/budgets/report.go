package budgets

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// UsageReport is the usage of a budget.
type UsageReport struct {
	// When the usage was measured, by the cluster's clock.
	AsOf time.Time `json:"as_of"`
	// The start of the window.
	WindowStart time.Time `json:"window_start"`
	// The end of the window. For a rolling window, the same as `as_of`.
	WindowEnd time.Time `json:"window_end"`
	// The limit. Null without one.
	LimitGPUHours *string `json:"limit_gpu_hours"`
	// The usage inside the window, which counts against the limit.
	ConsumedGPUHours string `json:"consumed_gpu_hours"`
	// The same usage. One GPU-hour is 3,600,000 milli-GPU-seconds.
	ConsumedMilliGPUSeconds int64 `json:"consumed_milli_gpu_seconds"`
	// The limit less the usage. Null without a limit.
	RemainingGPUHours *string `json:"remaining_gpu_hours"`
	// The usage in percent of the limit, rounded down. Null without a limit.
	UsedPercent *int64 `json:"used_percent"`
	// Whether the usage is at or above the limit. Null without a limit.
	Exceeded *bool `json:"exceeded"`
	// Since when. Null if the limit is not exceeded.
	ExceededSince *time.Time `json:"exceeded_since"`
	// The part of the usage that relies on estimated ends of pods. The rest is certain.
	EstimatedGPUHours string `json:"estimated_gpu_hours"`
	// GPU-hours in addition to the usage that only the pods themselves claim. They count for nothing. Absent if there are none.
	UnconfirmedGPUHours string `json:"unconfirmed_gpu_hours,omitempty"`
	// The largest possible error of the usage, in either direction.
	ErrorBoundGPUHours string `json:"error_bound_gpu_hours"`
	// The parts of the error. Absent if there is none.
	ErrorBoundReason reason.Reason `json:"error_bound_reason,omitzero"`
	// The observed part of the window until now, from 0 to 1.
	Coverage json.Number `json:"coverage"`
	// Pods that held GPUs inside the window.
	TrackedPods int `json:"tracked_pods"`
	// Pods that hold GPUs now.
	ActivePods int `json:"active_pods"`
	// The GPUs that these pods hold.
	BurnRateGPUs string `json:"burn_rate_gpus"`
	// When the limit is reached at this rate. Null if it is not, or not in this period.
	ProjectedExhaustion *time.Time `json:"projected_exhaustion"`
	// When the usage falls below the limit without more usage, or when the period ends. Null while
	// it is below.
	RecoversAt *time.Time `json:"recovers_at"`
	// GPU-hours by namespace.
	ByNamespace map[string]string `json:"by_namespace,omitempty"`
	// GPU-hours by key and value of the labels in `breakdown_labels`.
	ByLabel map[string]map[string]string `json:"by_label,omitempty"`
}

// NewUsageReport converts usage. Without a limit, the fields about the limit are null.
func NewUsageReport(u budget.Usage, at time.Time, exceededSince *time.Time) *UsageReport {
	report := &UsageReport{
		AsOf: at, WindowStart: u.WindowStart, WindowEnd: u.WindowEnd,
		ConsumedGPUHours: budget.Hours(u.Consumed), ConsumedMilliGPUSeconds: u.Consumed,
		EstimatedGPUHours: budget.Hours(u.Estimated), ErrorBoundGPUHours: budget.Hours(u.ErrorBound), ErrorBoundReason: budget.BoundReason(u),
		Coverage:    json.Number(fmt.Sprintf("%d.%03d", u.Coverage/1000, u.Coverage%1000)),
		TrackedPods: u.TrackedPods, ActivePods: u.ActivePods, BurnRateGPUs: budget.MilliGPUs(u.BurnRate),
		ByNamespace: hours(u.ByNamespace),
	}
	if u.Unconfirmed > 0 {
		report.UnconfirmedGPUHours = budget.Hours(u.Unconfirmed)
	}
	if len(u.ByLabel) > 0 {
		report.ByLabel = map[string]map[string]string{}
		for key, values := range u.ByLabel {
			report.ByLabel[key] = hours(values)
		}
	}
	if u.Limit > 0 {
		limit, remaining, exceeded := budget.Hours(u.Limit), budget.Hours(u.Remaining()), u.Exceeded()
		percent := budget.Percent(u.Consumed, u.Limit)
		report.LimitGPUHours, report.RemainingGPUHours, report.UsedPercent, report.Exceeded = &limit, &remaining, &percent, &exceeded
		report.ExceededSince, report.ProjectedExhaustion, report.RecoversAt = exceededSince, u.ProjectedExhaustion, u.RecoversAt
	}
	return report
}

func hours(amounts map[string]int64) map[string]string {
	if len(amounts) == 0 {
		return nil
	}
	list := make(map[string]string, len(amounts))
	for key, amount := range amounts {
		list[key] = budget.Hours(amount)
	}
	return list
}

// Report is a budget at the end of a run.
type Report struct {
	// The budget's name.
	Name string `json:"name"`
	// The budget's UID.
	UID string `json:"uid,omitempty"`
	// The declared action.
	Action budget.Action `json:"action,omitempty"`
	// The time zone of the period.
	TimeZone string `json:"time_zone,omitempty"`
	// Whether the usage could be measured.
	Observed bool `json:"observed"`
	// The limit, with grants. Absent if the declaration or the grants cannot be read.
	LimitGPUHours *string `json:"limit_gpu_hours,omitempty"`
	// Absent if the usage could not be measured.
	*UsageReport
	// The grants in force. The limit of the next run includes them.
	Grants []budget.Grant `json:"grants,omitempty"`
	// Judged are those that were a part of the limit when the budget was judged.
	Judged []budget.Grant `json:"-"`
	// The start of the ledger. Absent if the ledger covers the window, or if the loss was accepted.
	KnownSince *time.Time `json:"known_since,omitempty"`
	// Why an action is withheld because a part of the window is unknown.
	Withheld reason.Reason `json:"withheld,omitzero"`
	// AlertThresholds are the declared ones, in percent of the limit; Fired are those that were
	// reported and have not re-armed.
	AlertThresholds []int `json:"-"`
	// The reported alert thresholds that have not re-armed, in percent.
	Fired []int `json:"fired_thresholds,omitempty"`
	// The end of the grace period. Null if nothing is to be enforced.
	EnforceAt *time.Time `json:"enforce_at"`
	// The actions in force, as observed.
	Enforced []budget.Action `json:"enforced,omitempty"`
	// Requested changes that were not observed yet.
	Effects []budget.Effect `json:"effects,omitempty"`
	// The number of effects that are not listed.
	EffectsLeftOut int `json:"effects_left_out,omitempty"`
	// The workloads that the budget has paused, as of its measurement.
	Paused []budget.PausedWorkload `json:"paused,omitempty"`
	// The number of paused workloads that are not listed.
	PausedLeftOut int `json:"paused_left_out,omitempty"`
	// Whether the run finished the budget's deletion.
	Deleted bool `json:"deleted,omitempty"`
	// The outcome of the budget as a whole.
	Outcome outcome.Outcome `json:"outcome"`
	// Events of its workloads.
	Messages reason.Reasons `json:"notices,omitempty"`
	// Warnings, which need attention.
	Warnings reason.Reasons `json:"warnings,omitempty"`
	// The error of a budget that failed.
	Error *outcome.ErrorReport `json:"error,omitempty"`
}

// Summary returns the outcome of the budget.
func (b Report) Summary() outcome.Summary {
	return outcome.Summary{Kind: "budget", Name: b.Name, Outcome: b.Outcome, Error: b.Error, Deleted: b.Deleted}
}

// For returns the usage as a reader of its pods may see it.
func (u *UsageReport) For(reader reason.Renderer) *UsageReport {
	if u == nil {
		return nil
	}
	seen := *u
	seen.ErrorBoundReason = reader.Redact(u.ErrorBoundReason)
	return &seen
}

// For returns the budget as a reader of it may see it.
func (b Report) For(reader reason.Renderer) Report {
	b.Grants, b.Judged = reason.Each(b.Grants, reader), reason.Each(b.Judged, reader)
	b.Effects = reason.Each(slices.DeleteFunc(slices.Clone(b.Effects), func(e budget.Effect) bool {
		return e.Object != "" && !reader.SeesWorkload(e.Object)
	}), reader)
	b.Paused = slices.DeleteFunc(slices.Clone(b.Paused), func(p budget.PausedWorkload) bool { return !reader.SeesNamespace(p.Namespace) })
	b.Withheld, b.Messages, b.Warnings = reader.Redact(b.Withheld), reader.RedactAll(b.Messages), reader.RedactAll(b.Warnings)
	b.UsageReport, b.Error = b.UsageReport.For(reader), b.Error.For(reader)
	return b
}

// PlanDeletion shows a deletion that was finished on a draft as a planned one.
func (b *Report) PlanDeletion() {
	if b.Deleted {
		b.Deleted, b.Outcome, b.Messages, b.Error = false, outcome.Planned, nil, outcome.NewErrorReport(outcome.ErrDeletionPlanned)
	}
}

func newReport(d budget.Declaration, s budget.Status, e loop.Ending) Report {
	usage := NewUsageReport(s.Usage, s.At, s.ExceededSince)
	return Report{
		Name: d.Name, UID: d.UID, Action: d.Enforce.Action, TimeZone: d.TimeZone, Observed: true, LimitGPUHours: usage.LimitGPUHours, UsageReport: usage,
		Grants: s.Grants, Judged: s.Grants, KnownSince: s.KnownSince, Withheld: s.Withheld, AlertThresholds: d.Thresholds,
		Fired: s.Fired, EnforceAt: s.EnforceAt, Enforced: s.Enforced, Effects: s.Effects,
		EffectsLeftOut: s.EffectsLeftOut, Paused: s.Paused, PausedLeftOut: s.PausedLeftOut,
		Outcome: e.Became, Warnings: s.Warnings, Error: outcome.NewErrorReport(e.Why),
	}
}

// unjudgedReport reports a budget without measured usage. Its limit is nil if the grants are unknown.
func unjudgedReport(d budget.Declaration, limit *string, e loop.Ending) Report {
	return Report{
		Name: d.Name, UID: d.UID, Action: d.Enforce.Action, TimeZone: d.TimeZone, LimitGPUHours: limit,
		Outcome: e.Became, Error: outcome.NewErrorReport(e.Why),
	}
}
