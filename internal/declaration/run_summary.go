package declaration

import "time"

// RunSummary is what the store keeps of the last run.
type RunSummary struct {
	RunID      string    `json:"run_id"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	Failed     int       `json:"failed"`    // declarations
	Decisions  int       `json:"decisions"` // done or tried
	// BudgetErrors are what the budgets failed with, by their names: a budget that
	// could not be judged keeps the status of an earlier run, which says nothing of
	// it. Of many, the first by name.
	BudgetErrors map[string]string `json:"budget_errors,omitempty"`
}
