package budgets

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// Declared is the part of a declaration about enforcement.
type Declared struct {
	// The time zone of the period.
	TimeZone string `json:"time_zone,omitempty"`
	// The time between the report and the enforcement.
	GracePeriod string `json:"grace_period,omitempty"`
	// The most pods that one run evicts.
	MaxEvictionsPerRun int `json:"max_evictions_per_run,omitempty"`
	// Which pods are evicted first.
	EvictionOrder budget.EvictionOrder `json:"eviction_order,omitempty"`
	// How old a measurement may be to block launches or allow them.
	MaxStatusAge string `json:"max_status_age,omitempty"`
}

// Threshold is one alert threshold.
type Threshold struct {
	// The threshold, in percent of the limit.
	Percent int `json:"percent"`
	// The threshold in GPU-hours.
	GPUHours string `json:"gpu_hours"`
	// Whether the usage reaches it. Absent if the usage could not be measured.
	Reached *bool `json:"reached,omitempty"`
	// Whether it was reported and has not re-armed. Absent if the usage could not be measured.
	Told *bool `json:"told,omitempty"`
}

// Step is a change that comes by itself.
type Step struct {
	// When it happens.
	At time.Time `json:"at"`
	// The change.
	What reason.Reason `json:"what"`
}

// For returns the change as a reader of the budget may see it.
func (s Step) For(reader reason.Renderer) Step {
	s.What = reader.Redact(s.What)
	return s
}

func (e *Description) explain(d budget.Declaration, now time.Time) {
	e.Why = &Why{Declared: Declared{
		TimeZone: d.TimeZone, GracePeriod: d.Enforce.GracePeriod, MaxEvictionsPerRun: d.Enforce.MaxEvictionsPerRun,
		EvictionOrder: d.Enforce.EvictionOrder, MaxStatusAge: d.MaxStatusAge,
	}}
	limited := d.Granted(budget.Grants{List: e.Grants}, now)
	for _, percent := range d.Thresholds {
		e.Thresholds = append(e.Thresholds, Threshold{Percent: percent, GPUHours: shareOf(limited, percent)})
	}
	e.Update(e.Report, nil)
}

func shareOf(d budget.Declaration, percent int) string {
	limit, err := d.Limit()
	if err != nil {
		return ""
	}
	return budget.Hours(limit / 100 * int64(percent))
}

// Update replaces the report and the decisions that a run would make now.
func (e *Description) Update(r Report, decisions []outcome.Result) {
	e.Report, e.Decisions, e.Next = r, decisions, nil
	u := r.UsageReport
	for n := range e.Thresholds {
		t := &e.Thresholds[n]
		if t.Told, t.Reached = nil, nil; u != nil {
			t.Told, t.Reached = new(slices.Contains(r.Fired, t.Percent)), new(u.UsedPercent != nil && *u.UsedPercent >= int64(t.Percent))
		}
	}
	if u == nil {
		return
	}
	for _, g := range r.Grants {
		e.Next = append(e.Next, Step{g.Until, reason.NextGrantEnds(reason.Amount(g.GPUHours))})
	}
	exceeded := u.Exceeded != nil && *u.Exceeded
	if exceeded && r.EnforceAt != nil && r.EnforceAt.After(u.AsOf) {
		e.Next = append(e.Next, Step{*r.EnforceAt, reason.NextEnforcement(reason.Word(e.Declared.GracePeriod), reason.Word(r.Action))})
	}
	if !exceeded && u.ProjectedExhaustion != nil {
		e.Next = append(e.Next, Step{*u.ProjectedExhaustion, reason.NextExhaustion()})
	}
	rolling := !u.WindowEnd.After(u.AsOf)
	if rolling && u.RecoversAt != nil {
		e.Next = append(e.Next, Step{*u.RecoversAt, reason.NextRecovery()})
	}
	if !rolling {
		e.Next = append(e.Next, Step{u.WindowEnd, reason.NextPeriod()})
	}
	slices.SortFunc(e.Next, func(a, b Step) int { return a.At.Compare(b.At) })
}
