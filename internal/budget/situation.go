package budget

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Situation is all that Decide judges by.
type Situation struct {
	Declaration Declaration // valid
	Result      Result      // of Evaluate, for this declaration
	// Previous is the status that the last run wrote; nil before the first.
	Previous *Status
	Now      time.Time // the cluster's clock
	// Grants are those of the budget. The result is of Declaration.Granted.
	Grants Grants
	RunID  string

	Look
	// Frozen says that this budget's freeze is in force.
	Frozen bool
	// FreezeOutdated says that it is in force for another selector than the
	// declaration's.
	FreezeOutdated bool
	// FreezeRecoversAt is what it names as its end; zero where that is nothing.
	FreezeRecoversAt time.Time
	// PriorityClasses are the values of the cluster's priority classes, by name.
	PriorityClasses map[string]int32
	// SelectorDoubts say how the selector does not fit the cluster, for a person.
	SelectorDoubts []string
	// StoreNamespace is where the store lives; nothing in it is ever touched.
	StoreNamespace string
	// Befell are the ids of the events of Previous.AboutTo of which it shows that they
	// came about.
	Befell map[string]bool
	// Unseen says that it can't be told what is in force.
	Unseen bool
}

// Look is what comes and goes while a run deals with other budgets. A run judges all
// budgets by a first look, in which there are no pods, and acts on each by a second one.
type Look struct {
	// Pods are those that hold GPUs now, or wait for some, of any budget: Decide picks
	// its own.
	Pods []Pod
	// Paused are the workloads that are paused, by this budget or another.
	Paused []Paused
}

// Paused is a workload that a budget paused.
type Paused struct {
	Workload
	BudgetUID string
	// Set is what its pods are told apart by, as far as is known: their namespace,
	// its labels, and the labels of the workload's template. Nil where it is not.
	Set               *ledger.LabelSet
	PriorityClassName string // of its template of pods
	// Running says that it is not stopped, as far as was looked.
	Running bool
	// UnderWay says that the pause has not come to its end, or that its end has
	// begun: a run was killed then.
	UnderWay bool
	// Undone says that someone started it again, and that the budget left it so: it
	// is not held any longer.
	Undone bool
}

// Result is what Evaluate finds of one budget.
type Result struct {
	Name  string
	Usage Usage
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
