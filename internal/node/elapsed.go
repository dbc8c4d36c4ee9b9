package node

import "time"

const (
	// countedAtMost bounds what one pause between two observations counts, whatever
	// happened in it: a cron job every five minutes, and its jitter.
	countedAtMost = 6 * time.Minute
	// notedFrom is the shortest pause that is noted: observations seconds apart change
	// nothing that is stored.
	notedFrom = 15 * time.Second
)

// Elapsed is the duration of a state. Only the time between two successive
// observations of it counts. The zero value has not begun.
type Elapsed struct {
	// The counted time until `at`. Only time between two observations counts.
	Counted span `json:"counted,omitempty"`
	// The last observation. Absent after one that failed.
	At time.Time `json:"at,omitzero"`
}

// span is a length of time, in JSON as "5m2s".
type span time.Duration

// MarshalText writes it.
func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = span(d)
	return err
}

// newElapsed begins with an observation now.
func newElapsed(now time.Time) Elapsed { return Elapsed{At: now} }

// Continue returns the time after another observation. Time that has lasted for enough is left
// as it is.
func (e Elapsed) Continue(now time.Time, enough time.Duration) Elapsed {
	switch pause := now.Sub(e.At); {
	case time.Duration(e.Counted) >= enough:
	case e.At.IsZero(), pause < 0:
		e.At = now
	case pause >= notedFrom || e.For(now) >= enough:
		e.Counted, e.At = span(e.For(now)), now
	}
	return e
}

// Missed is the time after an observation that failed: the pause that it ends does not
// count, and neither does the next.
func (e Elapsed) Missed() Elapsed {
	e.At = time.Time{}
	return e
}

// For returns the duration at an observation at now.
func (e Elapsed) For(now time.Time) time.Duration {
	if e.At.IsZero() {
		return time.Duration(e.Counted)
	}
	return time.Duration(e.Counted) + min(max(0, now.Sub(e.At)), countedAtMost)
}

// Runs reports whether the time up to the next observation counts, if that sees it.
func (e Elapsed) Runs() bool { return !e.At.IsZero() }

// Until returns when the duration reaches enough, if the state lasts.
func (e Elapsed) Until(enough time.Duration, now time.Time) time.Time {
	at := e.At
	if at.IsZero() {
		at = now
	}
	return at.Add(enough - time.Duration(e.Counted))
}
