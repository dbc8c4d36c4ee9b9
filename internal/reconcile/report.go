package reconcile

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// Report is what one run did. Its JSON is stable: fields are added, never
// changed or removed, within one schema version.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	RunID         string    `json:"run_id"`
	StartedAt     time.Time `json:"started_at"`
	FinishedAt    time.Time `json:"finished_at"`
	DryRun        bool      `json:"dry_run"`
	// Names are what the run was asked for; absent where that was all.
	Names      []string            `json:"names,omitempty"`
	Assumed    []Assumption        `json:"assumed,omitempty"` // in a dry run
	Decisions  []outcome.Result    `json:"decisions"`
	SpotPools  []spotpools.Report  `json:"spot_pools"`
	Budgets    []budgets.Report    `json:"budgets"`
	StockPools []stockpools.Report `json:"stock_pools"`
	Warnings   []string            `json:"warnings"`
	Calls      map[string]int      `json:"calls"`
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
