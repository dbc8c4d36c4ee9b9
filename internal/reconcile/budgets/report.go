package budgets

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// UsageReport is the use of a budget as programs read it: hours are decimal
// strings with three digits after the point, GPUs exact ones.
type UsageReport struct {
	AsOf        time.Time `json:"as_of"` // the cluster's clock
	WindowStart time.Time `json:"window_start"`
	WindowEnd   time.Time `json:"window_end"` // of a rolling window, as_of
	// LimitGPUHours, RemainingGPUHours, UsedPercent and Exceeded are null without
	// a limit.
	LimitGPUHours           *string    `json:"limit_gpu_hours"`
	ConsumedGPUHours        string     `json:"consumed_gpu_hours"`
	ConsumedMilliGPUSeconds int64      `json:"consumed_milli_gpu_seconds"`
	RemainingGPUHours       *string    `json:"remaining_gpu_hours"`
	UsedPercent             *int64     `json:"used_percent"` // rounded down
	Exceeded                *bool      `json:"exceeded"`
	ExceededSince           *time.Time `json:"exceeded_since"`
	// EstimatedGPUHours is the part that rests on estimated ends, and
	// ErrorBoundGPUHours by how much the whole may be wrong, either way.
	EstimatedGPUHours  string `json:"estimated_gpu_hours"`
	ErrorBoundGPUHours string `json:"error_bound_gpu_hours"`
	// Coverage is how much of the window until now was observed, from 0 to 1.
	Coverage            json.Number `json:"coverage"`
	TrackedPods         int         `json:"tracked_pods"`
	ActivePods          int         `json:"active_pods"` // hold GPUs now
	BurnRateGPUs        string      `json:"burn_rate_gpus"`
	ProjectedExhaustion *time.Time  `json:"projected_exhaustion"`
	// RecoversAt is when usage falls below the limit with no more use, or the calendar
	// period ends; null while it is below.
	RecoversAt  *time.Time                   `json:"recovers_at"`
	ByNamespace map[string]string            `json:"by_namespace,omitempty"`
	ByLabel     map[string]map[string]string `json:"by_label,omitempty"`
}

// NewUsageReport writes usage out. Without a limit, nothing is said of one.
func NewUsageReport(u budget.Usage, at time.Time, exceededSince *time.Time) *UsageReport {
	report := &UsageReport{
		AsOf: at, WindowStart: u.WindowStart, WindowEnd: u.WindowEnd,
		ConsumedGPUHours: budget.Hours(u.Consumed), ConsumedMilliGPUSeconds: u.Consumed,
		EstimatedGPUHours: budget.Hours(u.Estimated), ErrorBoundGPUHours: budget.Hours(u.ErrorBound),
		Coverage:    json.Number(fmt.Sprintf("%d.%03d", u.Coverage/1000, u.Coverage%1000)),
		TrackedPods: u.TrackedPods, ActivePods: u.ActivePods, BurnRateGPUs: budget.MilliGPUs(u.BurnRate),
		ByNamespace: hours(u.ByNamespace),
	}
	if len(u.ByLabel) > 0 {
		report.ByLabel = map[string]map[string]string{}
		for key, values := range u.ByLabel {
			report.ByLabel[key] = hours(values)
		}
	}
	if u.Limit > 0 {
		limit, remaining, exceeded := budget.Hours(u.Limit), budget.Hours(u.Remaining()), u.Exceeded()
		percent := u.Consumed / max(1, u.Limit/100)
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

// Report is a budget's numbers at the end of the run.
type Report struct {
	Name   string        `json:"name"`
	UID    string        `json:"uid,omitempty"`
	Action budget.Action `json:"action,omitempty"`
	// TimeZone is that of a budget whose period has one.
	TimeZone string `json:"time_zone,omitempty"`
	// Observed is false where usage could not be told; its fields are then absent.
	Observed bool `json:"observed"`
	// LimitGPUHours is the limit that usage was judged by, else the declared one;
	// absent where the declaration can't be read.
	LimitGPUHours *string `json:"limit_gpu_hours,omitempty"`
	*UsageReport
	// Grants are those in force, and a part of the limit from the next run on.
	Grants []budget.Grant `json:"grants,omitempty"`
	// Judged are those that were a part of the limit when the budget was judged.
	Judged []budget.Grant `json:"-"`
	// KnownSince is when the ledger begins, where the window begins before it and nobody
	// accepted that.
	KnownSince *time.Time `json:"known_since,omitempty"`
	// Withheld is why something is not done, or not lifted, since a part of the window
	// is not known well enough.
	Withheld string `json:"withheld,omitempty"`
	// AlertThresholds are the declared ones, in percent of the limit; Fired are those that were
	// reported and have not re-armed.
	AlertThresholds []int `json:"-"`
	Fired           []int `json:"fired_thresholds,omitempty"`
	// EnforceAt is when the grace of a budget that is exceeded ends, or ended; null
	// where nothing is enforced.
	EnforceAt *time.Time `json:"enforce_at"`
	// Enforced are the measures in force, of which all was observed to be done.
	Enforced []budget.Action `json:"enforced,omitempty"`
	// Effects are what was requested and has not been observed to be done, and
	// EffectsLeftOut how many more there are.
	Effects        []budget.Effect `json:"effects,omitempty"`
	EffectsLeftOut int             `json:"effects_left_out,omitempty"`
	// Deleted says that the run finished the budget's deletion.
	Deleted  bool                 `json:"deleted,omitempty"`
	Outcome  outcome.Outcome      `json:"outcome"`
	Messages []string             `json:"notices,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Error    *outcome.ErrorReport `json:"error,omitempty"`
}

// Summary is what became of the budget.
func (b Report) Summary() outcome.Summary {
	return outcome.Summary{Kind: "budget", Name: b.Name, Outcome: b.Outcome, Error: b.Error, Deleted: b.Deleted}
}

// PlanDeletion shows a deletion that was finished on a draft as a planned one.
func (b *Report) PlanDeletion() {
	if b.Deleted {
		b.Deleted, b.Outcome, b.Messages, b.Error = false, outcome.Planned, nil, outcome.NewErrorReport(outcome.ErrDeletionPlanned)
	}
}

// newReport reports a budget that was judged.
func newReport(d budget.Declaration, s budget.Status, e loop.Ending) Report {
	usage := NewUsageReport(s.Usage, s.At, s.ExceededSince)
	return Report{
		Name: d.Name, UID: d.UID, Action: d.Enforce.Action, TimeZone: d.TimeZone, Observed: true, LimitGPUHours: usage.LimitGPUHours, UsageReport: usage,
		Grants: s.Grants, Judged: s.Grants, KnownSince: s.KnownSince, Withheld: s.Withheld, AlertThresholds: d.Thresholds,
		Fired: s.Fired, EnforceAt: s.EnforceAt, Enforced: s.Enforced, Effects: s.Effects,
		EffectsLeftOut: s.EffectsLeftOut, Outcome: e.Became, Warnings: s.Warnings, Error: outcome.NewErrorReport(e.Why),
	}
}

// unjudgedReport reports a budget whose usage could not be told.
func unjudgedReport(d budget.Declaration, e loop.Ending) Report {
	report := Report{Name: d.Name, UID: d.UID, Action: d.Enforce.Action, TimeZone: d.TimeZone, Outcome: e.Became, Error: outcome.NewErrorReport(e.Why)}
	if limit, err := d.Limit(); err == nil {
		hours := budget.Hours(limit)
		report.LimitGPUHours = &hours
	}
	return report
}
