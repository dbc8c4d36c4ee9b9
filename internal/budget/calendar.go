package budget

import (
	"cmp"
	"time"
)

// calendarWindow is the period of the calendar that holds a moment. Days last 23
// or 25 hours where the clocks change.
func calendarWindow(period Period, zone *time.Location, now time.Time) Window {
	first := periodBegins(period, dateOf(now, zone))
	next := periodFollows(period, first)
	w := Window{Start: begins(first, zone), End: begins(next, zone)}
	// Where clocks are set back across midnight, a date comes twice: the period
	// that began first goes on.
	for !now.Before(w.End) {
		next = periodFollows(period, next)
		w = Window{Start: w.End, End: begins(next, zone)}
	}
	return w
}

// date is a day of the calendar, at midnight in UTC.
type date = time.Time

func dateOf(t time.Time, zone *time.Location) date {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// periodBegins is the first day of the period that holds a day.
func periodBegins(period Period, day date) date {
	switch period {
	case Week:
		sinceMonday := (int(day.Weekday()) + 6) % 7
		return day.AddDate(0, 0, -sinceMonday)
	case Month:
		return day.AddDate(0, 0, 1-day.Day())
	case Quarter:
		sinceQuarter := (int(day.Month()) - 1) % 3
		return day.AddDate(0, 0, 1-day.Day()).AddDate(0, -sinceQuarter, 0)
	}
	return day
}

// periodFollows is the first day of the next period.
func periodFollows(period Period, first date) date {
	lasts := cmp.Or(map[Period][2]int{Week: {0, 7}, Month: {1, 0}, Quarter: {3, 0}}[period], [2]int{0, 1})
	return first.AddDate(0, lasts[0], lasts[1])
}

// begins is the first moment of a day in a zone. time.Date does not define which moment it returns if clocks
// skip or repeat midnight.
func begins(day date, zone *time.Location) time.Time {
	const reach = 36 * time.Hour // no zone is further from UTC, nor a change larger
	var best time.Time
	consider := func(t time.Time) {
		first := !dateOf(t, zone).Before(day) && dateOf(t.Add(-time.Millisecond), zone).Before(day)
		if first && (best.IsZero() || t.Before(best)) {
			best = t
		}
	}
	at := day.Add(-reach).In(zone)
	for {
		_, offset := at.Zone()
		consider(day.Add(-time.Duration(offset) * time.Second))
		_, until := at.ZoneBounds()
		if until.IsZero() || until.After(day.Add(reach)) {
			return best.UTC()
		}
		consider(until)
		if !until.After(at) {
			// From 2040 on, Go reports that the last day of a leap year is past its bounds. They end after
			// 365 days: see tzset in package time.
			until = at.Add(time.Hour)
		}
		at = until
	}
}
