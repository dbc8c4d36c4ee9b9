package document

import "fmt"

// NewerError reports a document that a newer gpupool wrote. Whatever depends on the ledger must
// stop and leave it unchanged.
type NewerError struct {
	Document string
	Version  int    // of the document
	Field    string // unknown field, if the version is known
}

// Error names the document and the remedy.
func (e *NewerError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("the ledger's document %s was written by a newer gpupool (unknown field %.60q): upgrade gpupool",
			e.Document, e.Field)
	}
	return fmt.Sprintf("the ledger's document %s was written by a newer gpupool (format version %d): upgrade gpupool", e.Document, e.Version)
}

// OlderError reports a document of a gpupool from before the first release, which cannot be read.
// Whatever depends on the ledger must stop and leave it unchanged.
type OlderError struct {
	Document string
	Version  int // of the document
}

// Error names the document and the remedy. Removing the header does not help, since the other
// documents have the same form.
func (e *OlderError) Error() string {
	return fmt.Sprintf("the ledger's document %s was written by an older gpupool (unsupported format version %d): move all documents of "+
		"this ledger away together. The next gpupool reconcile starts a new ledger without the GPU-hours used before: an exceeded budget can then recover "+
		"and stop "+
		"blocking launches", e.Document, e.Version)
}

// DamagedError reports a document that no gpupool writes.
type DamagedError struct {
	Document string
	Reason   string // never quotes the document's content
}

// Error names the document, the damage and the remedy.
func (e *DamagedError) Error() string {
	if e.Document == HeaderName {
		return fmt.Sprintf("the ledger's header is damaged (%s); nothing was changed: restore it from a copy. Only if there is no copy, remove it. "+
			"The intervals stay, coverage starts again, and pods that ended since are charged by estimate, from their start until the next run", e.Reason)
	}
	return fmt.Sprintf("the ledger's document %s is damaged (%s): restore it from a copy", e.Document, e.Reason)
}

// ClusterError reports a ledger of another cluster.
type ClusterError struct{ What, Is, Want string }

// Error names both clusters.
func (e *ClusterError) Error() string {
	return fmt.Sprintf("%s belongs to the cluster %.80q, not to %.80q; nothing was changed", e.What, e.Is, e.Want)
}
