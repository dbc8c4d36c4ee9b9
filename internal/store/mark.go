package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// MarkName is the name of a store's mark. It is separate from the description, so that rewriting
// the description keeps the mark.
const MarkName = "move.json"

const markVersion = 1

// Mark says that a store was moved, or is being moved. The zero value is that of a store in use.
type Mark struct {
	Version int `json:"version"`
	// To is where the store was moved, or is being moved. From is the source of a copy to this
	// store. One of them is empty.
	To   string `json:"to,omitempty"`
	From string `json:"from,omitempty"`
	// Done says that everything was copied.
	Done bool `json:"done,omitempty"`
}

// MovingTo marks a store that is being moved to a location.
func MovingTo(l Location) Mark { return Mark{Version: markVersion, To: l.String()} }

// MovedTo marks a store that was moved to a location.
func MovedTo(l Location) Mark { return Mark{Version: markVersion, To: l.String(), Done: true} }

// MovingFrom marks a location to which a store is being moved.
func MovingFrom(l Location) Mark { return Mark{Version: markVersion, From: l.String()} }

// DecodeMark decodes a mark that was read from where; nil is the zero value.
func DecodeMark(data []byte, where string) (m Mark, err error) {
	if data == nil {
		return m, nil
	}
	err = json.Unmarshal(data, &m)
	switch {
	case err != nil || m.Version < 1 || (m.To == "") == (m.From == ""):
		return m, fmt.Errorf("%w: %s does not say where the store was moved: restore it from a copy, or delete it if the store was not moved",
			ErrDamagedStore, where)
	case m.Version > markVersion:
		return m, fmt.Errorf("%s is of %w (version %d, this gpupool knows version %d): upgrade gpupool", where, ErrNewerStore, m.Version, markVersion)
	}
	return m, nil
}

// Refuses returns why a store with this mark cannot be used, a *MovedError; nil if it can.
func (m Mark) Refuses(s fmt.Stringer) error {
	if m == (Mark{}) {
		return nil
	}
	return &MovedError{Store: s.String(), Mark: m}
}

// MovedError says that a store was moved, or that its move is not finished.
type MovedError struct {
	Store string
	Mark  Mark
}

// Error names the other store and the remedy.
func (e *MovedError) Error() string {
	switch {
	case e.Mark.Done:
		return fmt.Sprintf("the store %s was moved to %[2]s: use that one, with --store %[2]s, %[3]s or the provider's argument store", e.Store, e.Mark.To,
			EnvironmentVariable)
	case e.Mark.To != "":
		return fmt.Sprintf("the store %[1]s is being moved to %[2]s: wait for that. If it was interrupted, run gpupool store move "+
			"%[1]s %[2]s again", e.Store, e.Mark.To)
	}
	return fmt.Sprintf("the store %[1]s is being moved here from %[2]s: wait for that. If it was interrupted, run gpupool "+
		"store move %[2]s %[1]s again", e.Store, e.Mark.From)
}

// Movable is a store that was opened to be moved, or as the target of a move, whatever its mark.
type Movable interface {
	Store
	// Mark reads its mark.
	Mark(ctx context.Context) (Mark, error)
	// SetMark replaces its mark; the zero value removes it.
	SetMark(ctx context.Context, m Mark) error
	// Grace returns how long processes that opened the store before a mark may still write.
	Grace() time.Duration
	// Fits returns why a document cannot be kept here; nil if it can.
	Fits(key Key, data []byte) error
}
