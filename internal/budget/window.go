package budget

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// The range of a rolling window's length.
const (
	ShortestWindow = time.Minute
	LongestWindow  = 400 * 24 * time.Hour
)

// Window is the time over which a budget counts: from Start until now.
type Window struct {
	Start time.Time
	// End is when a calendar period ends; of a rolling window it is now.
	End     time.Time
	Rolling bool
}

// ParseWindow reads the length of a rolling window, such as "24h", "7d" or
// "1d12h". It is whole milliseconds between ShortestWindow and LongestWindow.
func ParseWindow(s string) (time.Duration, error) {
	length, err := duration.Parse(s)
	switch {
	case err != nil && !errors.Is(err, duration.ErrTooLong):
		return 0, fmt.Errorf("invalid window %q: write \"24h\", \"7d\" or \"90m\"", s)
	case err != nil, length < ShortestWindow, length > LongestWindow:
		return 0, fmt.Errorf("a window of %q is out of range: it must be between %s and %s", s, duration.Words(ShortestWindow), duration.Words(LongestWindow))
	case length%time.Millisecond != 0:
		return 0, fmt.Errorf("a window of %q is too fine: time is counted in milliseconds", s)
	}
	return length, nil
}

// Zones finds a time zone by its IANA name, UTC if it is empty: time.LoadLocation
// does. It is handed in, as it may read the disk.
type Zones func(name string) (*time.Location, error)

// ParseZone finds a time zone that is the same on every machine.
func ParseZone(name string, zones Zones) (*time.Location, error) {
	if name == "Local" {
		return nil, fmt.Errorf("the time zone %q differs from machine to machine: name one such as \"Europe/Berlin\"", name)
	}
	zone, err := zones(name)
	if err != nil {
		return nil, fmt.Errorf("invalid time zone %q: use an IANA name such as \"Europe/Berlin\"", name)
	}
	return zone, nil
}

// WindowAt is the budget's window at a moment, to the millisecond.
func (d Declaration) WindowAt(now time.Time, zones Zones) (Window, error) {
	span, err := d.Span(zones)
	if err != nil {
		return Window{}, err
	}
	return span.At(now), nil
}

// Span is the declared window.
type Span struct {
	Rolling time.Duration // of a rolling window, else zero
	period  Period
	zone    *time.Location
}

// Span reads what the declaration says of its window.
func (d Declaration) Span(zones Zones) (Span, error) {
	switch {
	case (d.Window == "") == (d.Period == ""):
		return Span{}, fmt.Errorf("a budget has either a window or a period")
	case d.Window != "":
		length, err := ParseWindow(d.Window)
		return Span{Rolling: length}, err
	}
	if !slices.Contains([]Period{Day, Week, Month, Quarter}, d.Period) {
		return Span{}, fmt.Errorf("%q is no period: use day, week, month or quarter", string(d.Period))
	}
	zone, err := ParseZone(d.TimeZone, zones)
	return Span{period: d.Period, zone: zone}, err
}

// At is the window at a moment, to the millisecond.
func (s Span) At(now time.Time) Window {
	now = now.Truncate(time.Millisecond)
	if s.Rolling > 0 {
		return Window{Start: now.Add(-s.Rolling).UTC(), End: now.UTC(), Rolling: true}
	}
	return calendarWindow(s.period, s.zone, now)
}
