package history

import "fmt"

// NewerError reports a document that a newer gpupool wrote.
type NewerError struct {
	Document string
	Version  int
}

// Error names the document and the remedy.
func (e *NewerError) Error() string {
	return fmt.Sprintf("the history's document %s was written by a newer gpupool (version %d of its form): upgrade gpupool", e.Document, e.Version)
}

// DamagedError reports a document that no gpupool writes.
type DamagedError struct {
	Document string
	Reason   string // never quotes the document's content
}

// Error names the document, the damage and the remedy.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("the history's document %s is damaged (%s): restore it from a copy", e.Document, e.Reason)
}
