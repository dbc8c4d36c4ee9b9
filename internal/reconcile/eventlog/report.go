package eventlog

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// Report is the history of the store, or of the named objects.
type Report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The location of the store.
	Store string `json:"store"`
	// The start of the requested time.
	Since time.Time `json:"since"`
	// The end of the requested time.
	Until time.Time `json:"until"`
	// The events, by time.
	Events []history.Event `json:"events"`
	// Parts of the history that cannot be read.
	Lost []string `json:"lost"`
	// Earlier events are no longer kept. Absent if all are.
	KeptSince time.Time `json:"kept_since,omitzero"`
}
