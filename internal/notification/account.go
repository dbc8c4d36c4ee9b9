package notification

import (
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// The most bytes of a line. They bound a journal.
const (
	longestLine   = 600 // with the remedy
	longestRemedy = 250
	longestError  = 400
)

// Present is what a run found about lasting conditions, by their identity.
type Present map[string]reason.Reasons

// update writes the line of a condition as the run found it. What the run did not find stays as it was.
func (p Present) update(l Line, zone *time.Location) Line {
	if found := p[l.Condition]; len(found) > 0 {
		l.Text, l.Remedy = written("", found, zone)
	}
	return l
}

// ConditionOf returns the identity of a lasting condition of an object.
func ConditionOf(object string, kind history.Kind) string { return object + "/" + string(kind) }

// ErrorOf returns an error with its code, the ID of its request, and the remedy, each once.
func ErrorOf(e history.Error) reason.Reason {
	message, remedy := e.Message, e.Remedy
	if !strings.Contains(message, e.Code) {
		message = strings.TrimSuffix(e.Code+": "+message, ": ")
	}
	message = Cut(message, longestError)
	if strings.Contains(message, remedy) {
		remedy = ""
	}
	if strings.Contains(message, e.RequestID) {
		return reason.EventError(reason.NewForeign(message), reason.NewForeign(remedy))
	}
	return reason.EventErrorOfRequest(reason.NewForeign(message), reason.Word(e.RequestID), reason.NewForeign(remedy))
}

// account returns what happened, why, and what to do, with times in a time zone.
func account(e *history.Event, zone *time.Location) (text, remedy string) {
	by := rendererIn(zone)
	reasons, message := slices.Clone(e.Reasons), e.Brief(by)
	if e.Error != nil {
		reasons = slices.Insert(reasons, 0, ErrorOf(*e.Error))
	}
	switch e.Kind {
	case history.Threshold:
		message, reasons = "", append(reasons, reason.ThresholdReached(reason.Count(e.Threshold)))
	case history.Failed, history.RunFailed, history.Loss:
		message = "" // a part of the error
	case history.Revert, history.Reclaim:
		reasons = nil // the message has them in other words
	}
	return written(message, reasons, zone)
}

// written returns the texts of reasons after a text that may have some of them, and their remedies.
func written(text string, reasons reason.Reasons, zone *time.Location) (all, remedy string) {
	by := rendererIn(zone)
	add := func(to *string, more, separator string) {
		switch {
		case *to == "":
			*to = more
		case !strings.Contains(*to, more):
			*to += separator + more
		}
	}
	for _, r := range reasons {
		add(&text, by.Text(r), "; ")
		add(&remedy, by.Remedy(r), " ")
	}
	remedy = Cut(wording.Instants(remedy, by.Instant), longestRemedy)
	return Cut(wording.Instants(text, by.Instant), longestLine-len(remedy)), remedy
}

func rendererIn(zone *time.Location) reason.Renderer {
	return reason.Renderer{Instant: func(at time.Time) string { return timeIn(zone, at) }}
}

// timeIn formats a time for texts, with the offset of its zone: abbreviations such as CST are ambiguous. Nil is UTC.
func timeIn(zone *time.Location, t time.Time) string {
	t = t.In(zoneOr(zone))
	if _, offset := t.Zone(); offset == 0 {
		return t.Format("2006-01-02 15:04") + " UTC"
	}
	return t.Format("2006-01-02 15:04 -07:00")
}

func zoneOr(zone *time.Location) *time.Location {
	if zone == nil {
		return time.UTC
	}
	return zone
}
