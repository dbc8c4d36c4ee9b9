package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Query says which events are asked for. What is empty asks for all.
type Query struct {
	// Of says of an object whether it is asked for.
	Of    func(object string) bool
	Kinds []Kind
	// Since and Until bound the time: Since is in, Until is out.
	Since, Until time.Time
}

// Validate says what is wrong with the query, if anything.
func (q Query) Validate() error {
	for _, k := range q.Kinds {
		if !k.Known() {
			var names []string
			for _, known := range Kinds() {
				names = append(names, string(known))
			}
			return fmt.Errorf("there is no kind of event %q: there are %s", k, strings.Join(names, ", "))
		}
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return fmt.Errorf("nothing lies between %s and %s", q.Since.Format(time.RFC3339), q.Until.Format(time.RFC3339))
	}
	return nil
}

// Select returns those of the events that are asked for, in their order.
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

// Overlaps says whether anything between two moments, both included, may be asked for.
func (q Query) Overlaps(from, to time.Time) bool {
	return (q.Since.IsZero() || !to.Before(q.Since)) && (q.Until.IsZero() || from.Before(q.Until))
}

func (q Query) fits(object string) bool { return q.Of == nil || q.Of(object) }
