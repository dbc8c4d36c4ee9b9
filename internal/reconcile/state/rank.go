package state

// Rank orders states: the worst first.
type Rank int

// The ranks.
const (
	Bad     Rank = iota // not reconciled
	Lacking             // instances or GPU-hours are missing
	Noticed             // an operator should know
	Moving              // in progress
	Calm                // in sync
)

// Worst returns the rank of the worst of states; that of Unknown if there are none.
func Worst(states []State) Rank {
	if len(states) == 0 {
		return Bad
	}
	worst := Calm
	for _, s := range states {
		worst = min(worst, s.Rank())
	}
	return worst
}

// Rank returns how bad a state is.
func (s State) Rank() Rank {
	switch s {
	case Failing, Unknown:
		return Bad
	case Short, Exceeded, Degraded, Blocked, Pending, Pausing, Ineffective:
		return Lacking
	case OutOfSync, Progressing, Draining, Creating, Deleting:
		return Moving
	case InSync, WithinLimit:
		return Calm
	}
	return Noticed
}

// String is the rank as a word.
func (r Rank) String() string {
	return [...]string{"bad", "lacking", "noticed", "moving", "calm"}[r]
}
