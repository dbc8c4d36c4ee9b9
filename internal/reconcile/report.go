package reconcile

import (
	"errors"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Outcome says what became of a decision or a pool.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"
	Planned Outcome = "planned" // a dry run left it out
	Short   Outcome = "short"   // stock, price or quota did not allow it
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // someone else holds the lock, or it must not be touched
)

// Report is what one run did. Its JSON is stable: fields are added, never
// changed or removed, within one schema version.
type Report struct {
	SchemaVersion int            `json:"schema_version"`
	RunID         string         `json:"run_id"`
	StartedAt     time.Time      `json:"started_at"`
	FinishedAt    time.Time      `json:"finished_at"`
	DryRun        bool           `json:"dry_run"`
	Decisions     []Result       `json:"decisions"`
	SpotPools     []PoolReport   `json:"spot_pools"`
	Budgets       []BudgetReport `json:"budgets"`
	StockPools    []struct{}     `json:"stock_pools"`
	Warnings      []string       `json:"warnings"`
	Calls         map[string]int `json:"calls"`
}

// ReportSchemaVersion is the version of Report's JSON.
const ReportSchemaVersion = 1

// ErrorReport is an error as programs read it.
type ErrorReport struct {
	Class     spotpool.ErrorClass `json:"class,omitempty"`
	Code      string              `json:"code,omitempty"`
	Message   string              `json:"message"`
	RequestID string              `json:"request_id,omitempty"`
}

// PoolReport is a pool's numbers at the end of the run.
type PoolReport struct {
	Name   string `json:"name"`
	Region string `json:"region"`
	UID    string `json:"uid,omitempty"`
	spotpool.Counts
	// Observed is false where the pool could not be looked at; the counts of
	// what is there are then 0 and mean nothing.
	Observed bool `json:"observed"`
	// Deleted says that the run finished the pool's deletion.
	Deleted bool `json:"deleted,omitempty"`
	// Gate is that of the pool's budget; nil where it names none, or was not looked at.
	Gate     *GateReport  `json:"gate,omitempty"`
	Outcome  Outcome      `json:"outcome"`
	Short    []string     `json:"short,omitempty"` // why it stays below minimum
	Notices  []string     `json:"notices,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Error    *ErrorReport `json:"error,omitempty"`
}

// GateReport says whether a pool's budget holds its launches back.
type GateReport struct {
	Budget string `json:"budget"`
	Closed bool   `json:"closed"`
	Reason string `json:"reason,omitempty"` // why it is closed
}

func newGateReport(d spotpool.Declaration, p spotpool.Plan) *GateReport {
	if d.Budget == "" {
		return nil
	}
	return &GateReport{Budget: d.Budget, Closed: p.Gate.Closed, Reason: p.Gate.Reason}
}

// HeldBack is why the pool's gate is closed, where nothing else of the report
// says so; empty where it is open.
func (p PoolReport) HeldBack() string {
	if p.Gate == nil || slices.Contains(p.Short, p.Gate.Reason) || p.Error != nil && p.Error.Message == p.Gate.Reason {
		return ""
	}
	return p.Gate.Reason
}

// NewErrorReport keeps what programs need of an error; nil of nil.
func NewErrorReport(err error) *ErrorReport {
	if err == nil {
		return nil
	}
	report := &ErrorReport{Message: err.Error()}
	var classed interface{ ErrorClass() string } // of the cluster, or of a store in it
	if cloud, ok := spotpool.AsCloudError(err); ok {
		report.Class, report.Code, report.RequestID = cloud.Class, cloud.Code, cloud.RequestID
	} else if errors.As(err, &classed) {
		report.Class = spotpool.ErrorClass(classed.ErrorClass())
	}
	return report
}

// Failures counts the declarations that failed and those that did not.
func (r Report) Failures() (failed, rest int) {
	for _, p := range r.SpotPools {
		if p.Outcome == Failed {
			failed++
		}
	}
	for _, b := range r.Budgets {
		if b.Outcome == Failed {
			failed++
		}
	}
	return failed, len(r.SpotPools) + len(r.Budgets) - failed
}

// Changes reports whether anything was done, or would be in a dry run.
func (r Report) Changes() bool {
	for _, d := range r.Decisions {
		if d.Outcome == Done || d.Outcome == Planned {
			return true
		}
	}
	return slices.ContainsFunc(r.SpotPools, func(p PoolReport) bool { return p.Deleted }) ||
		slices.ContainsFunc(r.Budgets, func(b BudgetReport) bool { return b.Deleted })
}
