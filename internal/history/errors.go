package history

import "fmt"

// NewerError says that a document was written by a newer gpupool.
type NewerError struct {
	Document string
	Version  int
}

// Error names what can't be read, and the remedy.
func (e *NewerError) Error() string {
	return fmt.Sprintf("the history's document %s was written by a newer gpupool (version %d of its form): upgrade gpupool", e.Document, e.Version)
}

// DamagedError says that a document is not what any gpupool writes.
type DamagedError struct {
	Document string
	Reason   string // never quotes what stands in the document
}

// Error names the document, what is wrong with it, and the remedy.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("the history's document %s is damaged (%s): restore it from a copy", e.Document, e.Reason)
}
