package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Retention is for how long, and how much, history is kept.
type Retention struct {
	For   time.Duration
	Bytes int64
}

// DefaultRetention is the default retention.
var DefaultRetention = Retention{For: 35 * 24 * time.Hour, Bytes: 64 << 20}

// Dropped counts what retention dropped. The zero value is nothing.
type Dropped struct {
	Until     time.Time `json:"until,omitzero"` // earlier events were dropped
	Documents int       `json:"documents,omitempty"`
	Bytes     int64     `json:"bytes,omitempty"`
	// TooLarge says that the history exceeded its size rather than its age.
	TooLarge bool `json:"too_large,omitempty"`
}

// Reason says what was dropped and why; zero for nothing.
func (d Dropped) Reason() reason.Reason {
	until, size := reason.Instant{Time: d.Until}, reason.Count((d.Bytes+1023)/1024)
	switch {
	case d.Documents == 0:
		return reason.Reason{}
	case d.TooLarge:
		return reason.HistoryTrimmed(until, size)
	}
	return reason.HistoryDropped(until, size)
}

// And returns both together.
func (d Dropped) And(o Dropped) Dropped {
	if o.Until.After(d.Until) {
		d.Until = o.Until
	}
	d.Documents, d.Bytes, d.TooLarge = d.Documents+o.Documents, d.Bytes+o.Bytes, d.TooLarge || o.TooLarge
	return d
}

// slack is how far below the limit retention trims, so that it does not trim each time.
const slack = 10 // a tenth

// Expired returns the days to drop, the oldest first: those that are too old, and then as many as
// bring the rest below the limit. The rest includes the size of today, which is never dropped.
// Sizes are by name.
func (r Retention) Expired(sizes map[string]int64, today Day) ([]Day, Dropped) {
	bytes, documents := map[Day]int64{}, map[Day]int{}
	total := int64(0)
	for name, size := range sizes {
		d, _, ok := ParseName(name)
		total += size
		if ok && d < today {
			bytes[d] += size
			documents[d]++
		}
	}
	limit := r.Bytes
	if total > limit {
		limit -= limit / slack
	}
	oldest := DayOf(today.Begin().Add(-r.For))
	var expired []Day
	var dropped Dropped
	for _, d := range slices.SortedFunc(maps.Keys(bytes), cmp.Compare[Day]) {
		tooLarge := total > limit
		if d >= oldest && !tooLarge {
			break
		}
		expired = append(expired, d)
		total -= bytes[d]
		dropped = dropped.And(Dropped{Until: d.Next().Begin(), Documents: documents[d], Bytes: bytes[d], TooLarge: d >= oldest})
	}
	return expired, dropped
}

// Over reports whether a day's documents, including a full head, exceed the limit together with
// those of the days before.
func (r Retention) Over(h *Head) bool { return h.Elsewhere+h.Bytes()+fullHead > r.Bytes }

// Trim drops the oldest segments of a day that exceeds the limit although retention was applied to
// the days before. The head no longer lists the returned documents.
func (r Retention) Trim(h *Head) (names []string, dropped Dropped) {
	if !r.Over(h) && len(h.Segments) < maxSegments {
		return nil, dropped
	}
	low := Retention{Bytes: r.Bytes - r.Bytes/slack}
	for len(h.Segments) > maxSegments-maxSegments/slack || len(h.Segments) > 0 && low.Over(h) {
		oldest := h.Segments[0]
		names = append(names, oldest.Name)
		dropped = dropped.And(Dropped{Until: time.UnixMilli(oldest.To + 1).UTC(), Documents: 1, Bytes: int64(oldest.Bytes), TooLarge: true})
		h.Segments = slices.Clone(h.Segments[1:])
	}
	h.Keep(dropped.Until)
	return names, dropped
}

// Keep records the start of retention.
func (h *Head) Keep(since time.Time) {
	if since.After(h.KeptSince) {
		h.KeptSince = moment(since)
	}
}
