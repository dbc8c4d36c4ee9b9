package history

import "github.com/gpupool/terraform-provider-gpupool/internal/reason"

// NewerError reports a document that a newer gpupool wrote.
type NewerError struct {
	Document string
	Version  int
}

// Because names the document.
func (e *NewerError) Because() reason.Reason {
	return reason.HistoryNewer(reason.NewForeign(e.Document), reason.Count(e.Version))
}

// Error is Because as text.
func (e *NewerError) Error() string { return e.Because().String() }

// DamagedError reports a document that no gpupool writes.
type DamagedError struct {
	Document string
	Reason   string // never quotes the document's content
}

// Because names the document and the damage.
func (e *DamagedError) Because() reason.Reason {
	return reason.HistoryDamaged(reason.NewForeign(e.Document), reason.NewForeign(e.Reason))
}

// Error is Because as text.
func (e *DamagedError) Error() string { return e.Because().String() }
