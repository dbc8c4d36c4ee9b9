package document

import (
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// NewerError reports a document that a newer gpupool wrote. Whatever depends on the ledger must
// stop and leave it unchanged.
type NewerError struct {
	Document string
	Version  int    // of the document
	Field    string // unknown field, if the version is known
}

// Because names the document.
func (e *NewerError) Because() reason.Reason {
	if e.Field != "" {
		return reason.LedgerNewerField(reason.NewForeign(e.Document), reason.NewForeign(strconv.Quote(e.Field)))
	}
	return reason.LedgerNewer(reason.NewForeign(e.Document), reason.Count(e.Version))
}

// Error is Because as text.
func (e *NewerError) Error() string { return e.Because().String() }

// OlderError reports a document of a gpupool from before the first release, which cannot be read.
// Whatever depends on the ledger must stop and leave it unchanged.
type OlderError struct {
	Document string
	Version  int // of the document
}

// Because names the document. Removing the header does not help, since the other documents have the same form.
func (e *OlderError) Because() reason.Reason {
	return reason.LedgerOlder(reason.NewForeign(e.Document), reason.Count(e.Version))
}

// Error is Because as text.
func (e *OlderError) Error() string { return e.Because().String() }

// DamagedError reports a document that no gpupool writes.
type DamagedError struct {
	Document string
	Reason   string // never quotes the document's content
}

// Because names the document and the damage.
func (e *DamagedError) Because() reason.Reason {
	if e.Document == HeaderName {
		return reason.LedgerHeaderDamaged(reason.NewForeign(e.Reason))
	}
	return reason.LedgerDamaged(reason.NewForeign(e.Document), reason.NewForeign(e.Reason))
}

// Error is Because as text.
func (e *DamagedError) Error() string { return e.Because().String() }

// ClusterError reports a ledger of another cluster.
type ClusterError struct{ What, Is, Want string }

// Because names both clusters.
func (e *ClusterError) Because() reason.Reason {
	return reason.LedgerForeign(reason.NewForeign(e.What), reason.Word(strconv.Quote(e.Is)), reason.Word(strconv.Quote(e.Want)))
}

// Error is Because as text.
func (e *ClusterError) Error() string { return e.Because().String() }
