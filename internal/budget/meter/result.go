package meter

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Result is what Evaluate finds of one budget.
type Result struct {
	Name  string
	Usage budget.Usage
	// ExceededSince is when the limit was reached, derived from the intervals: in
	// a calendar period the first time in it, in a rolling window the last time
	// that usage rose to it. Nil while used is below the limit.
	ExceededSince *time.Time
	// Overlaps are the other budgets that count some of the same pods, by name.
	Overlaps []string
	// LongestGap is the longest time without observation that touches the window,
	// at its full length.
	LongestGap time.Duration
	// Unbounded says that a gap has no bound on what was missed in it.
	Unbounded bool
	// Lost says what of the ledger was lost, for a person, and that nobody accepted.
	Lost []string
	// EndsLost says that this may have been when pods ended: usage may be lower,
	// too. Else it can only be higher.
	EndsLost bool
	// KnownSince is when the ledger's knowledge begins, where the window begins
	// before that and nobody accepted it; nil where it does not.
	KnownSince *time.Time
	// Forgotten says that this is since retention dropped a part of the window,
	// which no window reached back to then, and not for the ledger's being new.
	Forgotten bool
	// Err says why the budget could not be judged; nothing else is set then.
	Err error
}
