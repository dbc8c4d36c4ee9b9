package eventlog

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Report is the history of the store, or of the named objects.
type Report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The location of the store. Empty for a reader of a part of it.
	Store string `json:"store"`
	// The start of the requested time.
	Since time.Time `json:"since"`
	// The end of the requested time.
	Until time.Time `json:"until"`
	// The events, by time.
	Events []history.Event `json:"events"`
	// Parts of the history that cannot be read.
	Lost reason.Reasons `json:"lost"`
	// Earlier events are no longer kept. Absent if all are.
	KeptSince time.Time `json:"kept_since,omitzero"`
}

// For returns the report as a reader of its events may see it.
func (r Report) For(reader reason.Renderer) Report {
	r.Events = reason.Each(r.Events, reader)
	if !reader.Whole() {
		r.Store, r.Lost = "", reason.Reasons{}
	}
	return r
}
