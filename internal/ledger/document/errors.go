package document

import "fmt"

// NewerError says that a document of the ledger was written by a newer gpupool.
// Whatever depends on the ledger must stop and leave it alone.
type NewerError struct {
	Document string
	Version  int    // that it was written with
	Field    string // that is not known here, where the version is
}

// Error names what was refused, and the remedy.
func (e *NewerError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("the ledger's document %s was written by a newer gpupool (it has a field %.60q, which this one doesn't know): upgrade gpupool",
			e.Document, e.Field)
	}
	return fmt.Sprintf("the ledger's document %s was written by a newer gpupool (version %d of its form): upgrade gpupool", e.Document, e.Version)
}

// OlderError says that a document of the ledger was written by a gpupool from before the
// first release, whose form is not read. Whatever depends on the ledger must stop and
// leave it alone.
type OlderError struct {
	Document string
	Version  int // that it was written with
}

// Error names what was refused, and the remedy: a header that is removed helps nothing,
// since the other documents are of that form, too.
func (e *OlderError) Error() string {
	return fmt.Sprintf("the ledger's document %s was written by an older gpupool (version %d of its form, which this one does not read): move all documents "+
		"of this ledger away together. The next gpupool reconcile begins a new one, without the hours used before: a budget that was exceeded can then "+
		"recover, and what it blocks can launch", e.Document, e.Version)
}

// DamagedError says that a document is not what any gpupool writes.
type DamagedError struct {
	Document string
	Reason   string // never quotes what stands in the document
}

// Error names the document, what is wrong with it, and the remedy.
func (e *DamagedError) Error() string {
	if e.Document == HeaderName {
		return fmt.Sprintf("the ledger's header is damaged (%s); nothing was changed: restore it from a copy. Only where there is none, remove it: the "+
			"intervals stay, but pods that ended since are charged by estimate, from their start until the next run, and what is covered begins anew", e.Reason)
	}
	return fmt.Sprintf("the ledger's document %s is damaged (%s): restore it from a copy", e.Document, e.Reason)
}

// ClusterError says that a ledger is another cluster's.
type ClusterError struct{ What, Is, Want string }

// Error names both clusters.
func (e *ClusterError) Error() string {
	return fmt.Sprintf("%s is of the cluster %.80q, not of %.80q; nothing was changed", e.What, e.Is, e.Want)
}
