package outcome

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Event is one step of a run, as it happens.
type Event struct {
	Object  string // "spot_pool/ap-singapore/train"
	Message string
	// Counts are the pool's present numbers; nil where the step has none.
	Counts *spotpool.Counts
}

// Teller hears of each step of a run: for the log, and for who waits.
type Teller struct {
	Log *slog.Logger
	// Progress hears of each step; nil hears nothing.
	Progress func(Event)
}

// Logger is the log; one that drops all where there is none.
func (t Teller) Logger() *slog.Logger {
	if t.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return t.Log
}

// Tell tells of a step.
func (t Teller) Tell(object, message string, counts *spotpool.Counts) {
	if counts != nil {
		copied := *counts // the plan that they stand in goes on changing
		counts = &copied
	}
	if t.Progress != nil {
		t.Progress(Event{Object: object, Message: message, Counts: counts})
	}
}

// Warnings are those of one run, each once.
type Warnings struct {
	mu    sync.Mutex
	texts []string
}

// Add takes up a warning, unless it was given before.
func (w *Warnings) Add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

// Texts are all warnings, in the order in which they came.
func (w *Warnings) Texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.texts...)
}
