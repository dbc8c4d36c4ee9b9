package history

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// UnreportedAtMost is how many events a stored document keeps until they are reported. It keeps the
// newest.
const UnreportedAtMost = 200

// LeftOut reports that an object's document had no room for n events.
func LeftOut(object, document string, n int) reason.Reason {
	return reason.EventsCut(reason.Object(object), reason.Count(n), reason.Word(document), UnreportedAtMost)
}

// Unreported returns the events of a document that the history lacks, or nil. Appending to the
// result does not change the events.
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

// Keep adds an event to those of a document, which keeps the newest. It does not change the given
// events.
func Keep(events []Event, e Event) []Event {
	kept, _ := Newest(append(slices.Clone(events), e))
	return kept
}

// Newest returns the events that a document keeps, and how many older ones it has no room for.
func Newest(events []Event) (kept []Event, leftOut int) {
	leftOut = max(0, len(events)-UnreportedAtMost)
	return events[leftOut:], leftOut
}
