package ledger

import "math/big"

// Header is what the ledger remembers beside its records.
type Header struct {
	ClusterUID string
	// Began is when the first run started to observe: nothing before it is
	// certain to be recorded.
	Began   Time
	LastRun Time // the server's clock
	// LastListed is the last run that listed every pod, beside any replay.
	LastListed Time
	// ResourceVersion is where the next run's replay of the pod watch begins.
	ResourceVersion string
	// KeptSince is up to where retention has dropped what ended.
	KeptSince Time
	// Gaps are in order and do not overlap: [Ledger.AddGap] sees to that.
	Gaps []Gap
	// Lost says what could not be read, for a person. Coverage is none there.
	Lost []Loss
}

// Gap is a time that no observation and no replay covers: what began and ended
// in it was never seen.
type Gap struct {
	From, To Time
	// GPUs is how many the cluster's nodes could have given, the bound of what
	// was missed; nil where that is not known.
	GPUs   *big.Rat
	Reason string
}

// Loss is a document of the ledger that could not be read.
type Loss struct {
	Document string
	// From and To are when the intervals ended that it held.
	From, To  Time
	Intervals int // that it held, where the header tells; else 0
	Reason    string
	// Replaced says that it was begun anew since. Until then a copy that is put
	// back makes the loss undone.
	Replaced bool
}
