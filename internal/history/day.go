package history

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
)

// Changes are the writes that bring a day up to date: first the segments, of which an existing one
// is identical, and then the head.
type Changes struct {
	Segments []Document
	Head     Document
	Added    int // events that were missing
}

// Overlap is how far before an event the same one may have been reported: a killed run is repeated
// within that time.
const Overlap = time.Hour

// Near returns the segments that may contain events of such times, or earlier reports of the same
// ones.
func (h *Head) Near(events []Event) []Segment {
	var near []Segment
	for _, s := range h.Segments {
		if slices.ContainsFunc(events, func(e Event) bool { return s.From <= e.At.UnixMilli() && s.To >= e.At.Add(-Overlap).UnixMilli() }) {
			near = append(near, s)
		}
	}
	return near
}

// Missing returns the valid events that are not in the head; errs are the errors of the invalid
// ones.
func (h *Head) Missing(events []Event) (missing []Event, errs []error) {
	there := make(map[string]bool, len(h.Events))
	for _, e := range h.Events {
		there[e.ID] = true
	}
	for _, e := range events {
		if err := e.normalize(); err != nil {
			errs = append(errs, errors.Join(errors.New("invalid event of "+e.Object), err))
			continue
		}
		e.Reasons = e.Reasons.Bounded(maxList, maxText)
		if !there[e.ID] {
			missing = append(missing, e)
		}
	}
	return missing, errs
}

// Add adds at least one event to a day.
func (c *Codec) Add(h *Head, events []Event) (Changes, error) {
	merged, added := Merge(h.Events, events...)
	next := *h
	next.Events, next.Compact, next.Segments = merged, false, slices.Clone(h.Segments)
	longest := fullHead
	if len(h.Segments) > manySegments {
		longest = fullSegment
	}
	changes, err := c.divide(&next, longest)
	if err == nil {
		*h = next
	}
	changes.Added = added
	return changes, err
}

// AddWhole adds events to a day without segments, as long as they fit into one document.
func (c *Codec) AddWhole(h *Head, events []Event) (Changes, error) {
	next := *h
	var added int
	next.Events, added = Merge(h.Events, events...)
	next.Compact = false
	head, fits, err := c.make(h.Name(), next.Events, &next.Index, fullSegment)
	if err == nil && !fits {
		err = errors.New("its newest document is full, and another gpupool is at work on the others")
	}
	if err == nil {
		*h = next
	}
	return Changes{Head: head, Added: added}, err
}

// Compact encodes all events of a day again, in as few documents as fit.
func (c *Codec) Compact(h *Head, events []Event) (Changes, error) {
	h.Events, _ = Merge(nil, events...)
	h.Segments, h.Index.Compact = nil, true
	return c.divide(h, fullSegment)
}

// divide encodes a head. If it is longer than the limit, its older events become segments.
func (c *Codec) divide(h *Head, longest int) (Changes, error) {
	all, segments := h.Events, h.Segments
	head, fits, err := c.make(h.Name(), all, &h.Index, longest)
	for parts := max(2, len(head.Data)/longest+1); err == nil && !fits; parts++ {
		switch {
		case parts <= len(all):
		case longest < fullSegment: // a large one has more room
			return c.divide(h, fullSegment)
		default:
			return Changes{}, errors.New("an event is larger than a document of the history may be")
		}
		var changes Changes
		h.Segments, fits = slices.Clone(segments), true
		for n := 0; n < parts-1 && fits && err == nil; n++ {
			part := all[n*len(all)/parts : (n+1)*len(all)/parts]
			var d Document
			if d, fits, err = c.make(h.Day.segmentName(part), part, nil, longest); err == nil {
				changes.Segments = append(changes.Segments, d)
				h.tell(Segment{Name: d.Name, From: part[0].At.UnixMilli(), To: part[len(part)-1].At.UnixMilli(), Events: len(part), Bytes: len(d.Data)})
			}
		}
		if !fits || err != nil {
			continue
		}
		h.Events = all[(parts-1)*len(all)/parts:]
		if changes.Head, fits, err = c.make(h.Name(), h.Events, &h.Index, longest); fits {
			return changes, nil
		}
	}
	return Changes{Head: head}, err
}

func (h *Head) tell(s Segment) {
	h.Segments = slices.DeleteFunc(h.Segments, func(o Segment) bool { return o.Name == s.Name })
	h.Segments = append(h.Segments, s)
	slices.SortFunc(h.Segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.From, b.From), strings.Compare(a.Name, b.Name))
	})
}

// Bytes returns the total length of the segments of the day.
func (h *Head) Bytes() int64 {
	total := int64(0)
	for _, s := range h.Segments {
		total += int64(s.Bytes)
	}
	return total
}
