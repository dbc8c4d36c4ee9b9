package history

import (
	"strings"
	"time"
)

// Line is an event, or the same trouble again and again.
type Line struct {
	*Event     // the last of them
	Times  int // how often it is told
	First  time.Time
}

// Collapse makes one line of the same trouble of one object, for as long as nothing
// else happens to that. Events and lines are in the order of their time; a line is
// where the last of its events was.
func Collapse(events []Event) []Line {
	lines := make([]Line, 0, len(events))
	last := make([]bool, 0, len(events)) // of its trouble
	open := map[string]map[string]int{}  // lines of trouble, by object
	for n := range events {
		e := &events[n]
		line := Line{Event: e, Times: 1, First: e.At}
		if !e.Kind.Trouble() {
			delete(open, e.Object)
		} else {
			key := troubleOf(e)
			if n, again := open[e.Object][key]; again {
				line.Times += lines[n].Times
				line.First = lines[n].First
				last[n] = false
			}
			if open[e.Object] == nil {
				open[e.Object] = map[string]int{}
			}
			open[e.Object][key] = len(lines)
		}
		lines, last = append(lines, line), append(last, true)
	}
	kept := lines[:0]
	for n, line := range lines {
		if last[n] {
			kept = append(kept, line)
		}
	}
	return kept
}

// troubleOf tells troubles of one object apart. The cloud's request ids, and what
// reasons count, are another's each time.
func troubleOf(e *Event) string {
	parts := []string{string(e.Kind), e.ChargeType}
	if o := e.Offering; o != nil {
		parts = append(parts, o.AvailabilityZone, o.InstanceType, o.SubnetID)
	}
	if f := e.Error; f != nil {
		parts = append(parts, f.Class, f.Code)
		if f.Code == "" {
			message := f.Message
			if f.RequestID != "" {
				message = strings.ReplaceAll(message, f.RequestID, "")
			}
			parts = append(parts, message)
		}
	}
	return strings.Join(parts, "\x00")
}
