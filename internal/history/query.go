package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Query selects events. Empty fields match all.
type Query struct {
	// Of reports whether an object matches.
	Of    func(object string) bool
	Kinds []Kind
	// Since and Until bound the time: Since is included, Until is not.
	Since, Until time.Time
}

// Validate returns what is wrong with the query.
func (q Query) Validate() error {
	for _, k := range q.Kinds {
		if !k.Known() {
			var names []string
			for _, known := range Kinds() {
				names = append(names, string(known))
			}
			return fmt.Errorf("unknown kind of event %q: use one of %s", k, strings.Join(names, ", "))
		}
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return fmt.Errorf("nothing lies between %s and %s", q.Since.Format(time.RFC3339), q.Until.Format(time.RFC3339))
	}
	return nil
}

// Select returns the matching events, in their order.
func (q Query) Select(events []Event) []Event {
	var selected []Event
	for _, e := range events {
		if q.spans(e.At) && q.wants(e.Kind) && q.fits(e.Object) {
			selected = append(selected, e)
		}
	}
	return selected
}

func (q Query) wants(k Kind) bool { return len(q.Kinds) == 0 || slices.Contains(q.Kinds, k) }

func (q Query) spans(at time.Time) bool {
	return (q.Since.IsZero() || !at.Before(q.Since)) && (q.Until.IsZero() || at.Before(q.Until))
}

// Overlaps reports whether events between two moments, both included, can match.
func (q Query) Overlaps(from, to time.Time) bool {
	return (q.Since.IsZero() || !to.Before(q.Since)) && (q.Until.IsZero() || from.Before(q.Until))
}

func (q Query) fits(object string) bool { return q.Of == nil || q.Of(object) }
