package history

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// moment reads when something was: a length of time before now, or a moment. One
// without a zone is in that of the person; one without a day is the last such time.
func moment(flag, s string, now time.Time, zone *time.Location) (time.Time, error) {
	if length, err := duration.Parse(s); err == nil {
		return now.Add(-length), nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	for _, form := range []string{"2006-01-02 15:04", time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(form, s, zone); err == nil {
			return at, nil
		}
	}
	for _, form := range []string{"15:04", time.TimeOnly} {
		of, err := time.Parse(form, s)
		if err != nil {
			continue
		}
		today := now.In(zone)
		at := time.Date(today.Year(), today.Month(), today.Day(), of.Hour(), of.Minute(), of.Second(), 0, zone)
		if at.After(now) {
			at = time.Date(today.Year(), today.Month(), today.Day()-1, of.Hour(), of.Minute(), of.Second(), 0, zone)
		}
		return at, nil
	}
	return time.Time{}, fmt.Errorf("--%s: %q is no time: write a duration before now such as 6h or 7d, or a moment such as 2026-11-21T06:00:00Z, "+
		"\"2026-11-21 14:00\" or 14:00 (in local time)", flag, s)
}
