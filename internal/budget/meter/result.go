package meter

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Result is what Evaluate finds of one budget.
type Result struct {
	Name  string
	Usage budget.Usage
	// ExceededSince is when the limit was reached, derived from the intervals. In a calendar period that is
	// the first time in it; in a rolling window it is the last time that usage rose to it. Nil while usage is
	// below the limit.
	ExceededSince *time.Time
	// Overlaps are the other budgets that count some of the same pods, by name.
	Overlaps []string
	// LongestGap is the longest time without observation that touches the window,
	// at its full length.
	LongestGap time.Duration
	// Unbounded says that a gap has no bound on what was missed in it.
	Unbounded bool
	// Lost says what part of the ledger was lost and not accepted, for a person.
	Lost []string
	// EndsLost says that this may have been when pods ended: usage may be lower,
	// too. Else it can only be higher.
	EndsLost bool
	// KnownSince is when the ledger's knowledge begins, if the window begins before that and you did not
	// accept it; nil otherwise.
	KnownSince *time.Time
	// Forgotten says that KnownSince is later because retention dropped a part of the window. No window
	// needed that part then.
	Forgotten bool
	// Err says why the budget could not be judged; nothing else is set then.
	Err error
}
