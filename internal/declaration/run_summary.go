package declaration

import "time"

// RunSummary is what the store keeps of the last run.
type RunSummary struct {
	RunID      string    `json:"run_id"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	Failed     int       `json:"failed"`    // declarations
	Decisions  int       `json:"decisions"` // done or tried
	// BudgetErrors are the errors of budgets, by name. A budget that failed keeps the
	// status of an earlier run, which does not tell of the error. Of many, the first
	// by name are kept.
	BudgetErrors map[string]string `json:"budget_errors,omitempty"`
}
