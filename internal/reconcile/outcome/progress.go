package outcome

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Event is one step of a run.
type Event struct {
	Object  string // "spot_pool/ap-singapore/train"
	Message string
	Size    *Size // nil if the step has none
}

// Size is the current size of a pool.
type Size struct{ Capacity, Minimum int }

// Reporter reports each step of a run to the log and to people who wait.
type Reporter struct {
	Log *slog.Logger
	// Progress receives each step; it may be nil.
	Progress func(Event)
}

// Logger is the log, or one that discards records.
func (p Reporter) Logger() *slog.Logger {
	if p.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return p.Log
}

// HistoryLacks logs why what an operation did is not in the history.
func (p Reporter) HistoryLacks(list ...reason.Reason) {
	for _, why := range list {
		p.Logger().Warn("events are missing in the history", "error", why.String())
	}
}

// Report reports a step to people who wait.
func (p Reporter) Report(object, message string, size *Size) {
	if p.Progress != nil {
		p.Progress(Event{Object: object, Message: message, Size: size})
	}
}

// Warnings are the warnings of one run, each once.
type Warnings struct {
	mu   sync.Mutex
	list reason.Reasons
}

// Warn adds each warning once.
func (w *Warnings) Warn(list ...reason.Reason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range list {
		if !slices.ContainsFunc(w.list, r.Same) {
			w.list = append(w.list, r)
		}
	}
}

// List returns all warnings in order.
func (w *Warnings) List() reason.Reasons {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(reason.Reasons{}, w.list...)
}
