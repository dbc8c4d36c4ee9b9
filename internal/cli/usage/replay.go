package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// ReplayReport is the result of `gpupool usage --replay`: the usage of a budget in the past,
// against a limit.
type ReplayReport struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The named budget.
	Budget string `json:"budget,omitempty"`
	// The start of the replay, which is the start of the ledger.
	ReplayedFrom time.Time `json:"replayed_from"`
	// The end of the replay.
	ReplayedUntil time.Time `json:"replayed_until"`
	// When the ledger begins to cover the whole window. Usage before may have been higher. Null if
	// it does not yet.
	CompleteFrom *time.Time `json:"complete_from"`
	// The observed part of the time, from 0 to 1.
	Coverage json.Number `json:"coverage"`
	// The length of the window, or the period.
	Window string `json:"window"`
	// The time zone of the period.
	TimeZone string `json:"time_zone,omitempty"`
	// The limit.
	LimitGPUHours string `json:"limit_gpu_hours"`
	// The highest usage.
	PeakGPUHours string `json:"peak_gpu_hours"`
	// When it was first reached.
	PeakAt time.Time `json:"peak_at"`
	// The alert thresholds.
	Thresholds []Threshold `json:"thresholds"`
	// Whether the limit would have been exceeded.
	Exceeded bool `json:"exceeded"`
	// For how long, rounded down.
	ExceededSeconds int64 `json:"exceeded_seconds"`
	// Each time that the limit would have been exceeded.
	ExceededTimes []Excess `json:"exceeded_times"`
	// The usage during these times, by namespace.
	ByNamespace map[string]string `json:"by_namespace,omitempty"`
	// The usage during these times, by key and value of the breakdown labels.
	ByLabel map[string]map[string]string `json:"by_label,omitempty"`
	// Everything that could not be measured.
	Warnings []string `json:"warnings"`
}

// Threshold is when a threshold would have been reached.
type Threshold struct {
	// The threshold, in percent of the limit.
	Percent int `json:"percent"`
	// The threshold in GPU-hours.
	GPUHours string `json:"gpu_hours"`
	// Whether it was reached before the replay begins.
	ReachedBefore bool `json:"reached_before"`
	// When it would have been reported.
	ReachedAt []time.Time `json:"reached_at"`
}

// Excess is a time in which the limit would have been exceeded.
type Excess struct {
	// The start.
	Since time.Time `json:"since"`
	// The end. Null if it lasts.
	Until *time.Time `json:"until"`
	// The length, in seconds.
	Seconds int64 `json:"seconds"`
	// The highest usage.
	PeakGPUHours string `json:"peak_gpu_hours"`
	// When it was first reached.
	PeakAt time.Time `json:"peak_at"`
	// The usage during this time, by namespace.
	ByNamespace map[string]string `json:"by_namespace,omitempty"`
	// The usage during this time, by key and value of the breakdown labels.
	ByLabel map[string]map[string]string `json:"by_label,omitempty"`
}

// replayed prints what a limit would have come to.
func (o *options) replayed(ctx context.Context, names []string) error {
	asked, list, err := o.replayQuestion(names)
	if err != nil {
		return process.WrongUsage(err)
	}
	flow, err := o.budgets(ctx, false)
	if err != nil {
		return err
	}
	progress := o.session.StartProgress()
	replay, err := flow.Replay(ctx, asked)
	progress.Stop()
	if err != nil {
		return err
	}
	report := newReplayReport(replay)
	if !o.session.JSON() {
		o.session.Warn(report.Warnings...)
	}
	how := textOptions{listing: list, clock: o.clock(replay.Declaration)}
	if err := o.session.Print(report, func(style terminal.Style) string { return replayText(style, replay, how) }); err != nil {
		return err
	}
	return o.verdict(report.Exceeded)
}

// replayQuestion parses the flags of a replay.
func (o *options) replayQuestion(names []string) (budgets.Question, usage.Listing, error) {
	var asked budgets.Question
	switch {
	case o.given("pods"):
		return asked, usage.Listing{}, errors.New("--replay needs a ledger and cannot be combined with --pods")
	case o.given("sort"):
		return asked, usage.Listing{}, errors.New("--sort cannot be combined with --replay")
	case o.session.Output(process.CSV):
		return asked, usage.Listing{}, errors.New("--replay has no CSV output: use -o json")
	case o.given("by") && (o.by == usage.ByPod || o.by == usage.ByOwner):
		return asked, usage.Listing{}, errors.New("--replay groups by namespace or label:KEY")
	case len(names) == 0 && o.gpuHours == "":
		return asked, usage.Listing{}, errors.New("--replay needs a limit: add a budget or --gpu-hours")
	}
	l, err := o.listing()
	if err != nil {
		return asked, l, err
	}
	if asked, err = o.liveQuestion(names); err != nil {
		return asked, l, err
	}
	if l.Label != "" {
		asked.Over.BreakdownLabels = []string{l.Label}
	}
	return asked, l, nil
}

// newReplayReport returns the JSON.
func newReplayReport(r budgets.LiveReplay) ReplayReport {
	report := ReplayReport{
		SchemaVersion: 1, Budget: r.Declaration.Name, ReplayedFrom: r.From, ReplayedUntil: r.Until,
		Coverage: json.Number(fmt.Sprintf("%d.%03d", r.Coverage/1000, r.Coverage%1000)),
		Window:   windowText(r.Declaration), TimeZone: r.Declaration.TimeZone,
		LimitGPUHours: budget.Hours(r.Limit), PeakGPUHours: budget.Hours(r.Peak), PeakAt: r.PeakAt,
		Thresholds: []Threshold{}, Exceeded: len(r.Replayed.Exceeded) > 0, ExceededSeconds: int64(r.Total() / time.Second), ExceededTimes: []Excess{},
		ByNamespace: hours(r.ByNamespace), ByLabel: hoursByLabel(r.ByLabel), Warnings: append([]string{}, r.Warnings.Texts()...),
	}
	if !r.CompleteFrom.After(r.Until) {
		report.CompleteFrom = &r.CompleteFrom
	}
	for _, t := range r.Thresholds {
		report.Thresholds = append(report.Thresholds, Threshold{
			Percent: t.Percent, GPUHours: budget.Hours(t.Amount), ReachedBefore: t.Before, ReachedAt: append([]time.Time{}, t.ReachedAt...),
		})
	}
	for _, e := range r.Replayed.Exceeded {
		excess := Excess{
			Since: e.Since, Seconds: int64(e.Length / time.Second), PeakGPUHours: budget.Hours(e.Peak), PeakAt: e.PeakAt,
			ByNamespace: hours(e.ByNamespace), ByLabel: hoursByLabel(e.ByLabel),
		}
		if !e.Until.IsZero() {
			excess.Until = &e.Until
		}
		report.ExceededTimes = append(report.ExceededTimes, excess)
	}
	return report
}

func hours(amounts map[string]int64) map[string]string {
	list := make(map[string]string, len(amounts))
	for name, amount := range amounts {
		list[name] = budget.Hours(amount)
	}
	return list
}

func hoursByLabel(amounts map[string]map[string]int64) map[string]map[string]string {
	list := make(map[string]map[string]string, len(amounts))
	for key, values := range amounts {
		list[key] = hours(values)
	}
	return list
}
