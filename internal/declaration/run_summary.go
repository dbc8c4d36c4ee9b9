package declaration

import "time"

// RunSummary is what the store keeps of the last run.
type RunSummary struct {
	RunID      string    `json:"run_id"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	Failed     int       `json:"failed"`    // declarations
	Decisions  int       `json:"decisions"` // done or tried
}
