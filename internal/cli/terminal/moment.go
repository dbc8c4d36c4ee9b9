package terminal

import "time"

// ParseMoment parses a time as flags accept it: RFC 3339, a local date and time, a local
// date, or a local time of day. A time of day is the last one until now; with next, the
// first one after now.
func ParseMoment(s string, now time.Time, zone *time.Location, next bool) (at time.Time, ok bool) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, true
	}
	for _, form := range []string{"2006-01-02 15:04", time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(form, s, zone); err == nil {
			return at, true
		}
	}
	for _, form := range []string{"15:04", time.TimeOnly} {
		of, err := time.Parse(form, s)
		if err != nil {
			continue
		}
		today := now.In(zone)
		on := func(day int) time.Time {
			return time.Date(today.Year(), today.Month(), today.Day()+day, of.Hour(), of.Minute(), of.Second(), 0, zone)
		}
		switch at := on(0); {
		case next && !at.After(now):
			return on(1), true
		case !next && at.After(now):
			return on(-1), true
		default:
			return at, true
		}
	}
	return time.Time{}, false
}
