package reconcile

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// Report is the result of one run.
type Report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// A random ID of the run. Events and logs contain it.
	RunID string `json:"run_id"`
	// When the run began.
	StartedAt time.Time `json:"started_at"`
	// When the run ended.
	FinishedAt time.Time `json:"finished_at"`
	// Whether it was a dry run, which changes nothing.
	DryRun bool `json:"dry_run"`
	// The names and patterns on the command line. Absent if the run was for all objects.
	Names []string `json:"names,omitempty"`
	// The assumptions of a dry run with `--assume`.
	Assumed []Assumption `json:"assumed,omitempty"`
	// Everything that the run decided, in order.
	Decisions []outcome.Result `json:"decisions"`
	// The spot pools at the end of the run.
	SpotPools []spotpools.Report `json:"spot_pools"`
	// The budgets as the run measured them.
	Budgets []budgets.Report `json:"budgets"`
	// The stock pools at the end of the run.
	StockPools []stockpools.Report `json:"stock_pools"`
	// The jobs that the run completed. In a dry run, those that a run would do.
	Jobs []request.Job `json:"jobs,omitempty"`
	// The messages that the run sent for notifications, and failed deliveries.
	Notifications []notifications.Report `json:"notifications,omitempty"`
	// Warnings that concern the whole run.
	Warnings reason.Reasons `json:"warnings"`
	// The number of calls, by action of Tencent Cloud or by verb and resource of Kubernetes.
	Calls map[string]int `json:"calls"`
	// Counters are those of all runs of the store; zero if they are unknown.
	Counters declaration.Counters `json:"-"`
}

// ReportSchemaVersion is the version of Report's JSON.
const ReportSchemaVersion = 1

// Failures counts the declarations that failed and those that did not.
func (r Report) Failures() (failed, rest int) {
	all := r.Declarations()
	failed = outcome.Count(all, outcome.Failed)
	return failed, len(all) - failed
}

// Changes reports whether anything was done, or would be in a dry run.
func (r Report) Changes() bool {
	for _, d := range r.Decisions {
		if d.Outcome == outcome.Done || d.Outcome == outcome.Planned {
			return true
		}
	}
	return slices.ContainsFunc(r.Declarations(), func(s outcome.Summary) bool { return s.Deleted })
}

// UnmarshalJSON reads what a report is as JSON.
func (r *Report) UnmarshalJSON(data []byte) error {
	type plain Report
	form := struct {
		*plain
		Decisions []json.RawMessage `json:"decisions"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	r.Decisions = make([]outcome.Result, len(form.Decisions))
	for n, text := range form.Decisions {
		if err := r.Decisions[n].Read(text, decisions); err != nil {
			return err
		}
	}
	return nil
}
