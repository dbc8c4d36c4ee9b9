package history

import (
	"fmt"
	"slices"
)

// UnreportedAtMost is how many events a stored document keeps until they are reported; of
// more, the newest.
const UnreportedAtMost = 200

// LeftOut says that the document in which an object keeps them had no room for n events.
func LeftOut(object, document string, n int) string {
	return fmt.Sprintf("%s: %d events are not in the history, since a run was cut short before it told them, and %s keeps %d", object, n, document,
		UnreportedAtMost)
}

// Unreported are those of the events that a document keeps which the history has not by
// now; nil where it has all. The events stay as they are, also where some are appended to
// the result.
func Unreported(events []Event, has func(Event) bool) []Event {
	if !slices.ContainsFunc(events, has) {
		return slices.Clip(events)
	}
	left := slices.DeleteFunc(slices.Clone(events), has)
	if len(left) == 0 {
		return nil
	}
	return left
}

// Keep adds an event to those that a document keeps, of which the newest stay. The
// events stay as they are.
func Keep(events []Event, e Event) []Event {
	kept, _ := Newest(append(slices.Clone(events), e))
	return kept
}

// Newest are those of the events that a document keeps, and how many older ones it has
// no room for.
func Newest(events []Event) (kept []Event, leftOut int) {
	leftOut = max(0, len(events)-UnreportedAtMost)
	return events[leftOut:], leftOut
}
