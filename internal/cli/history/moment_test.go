package history

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CST", 8*3600)
	now := time.Date(2026, 11, 21, 14, 32, 5, 0, zone)
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2026, 11, day, hour, minute, second, 0, zone)
	}
	for s, want := range map[string]time.Time{
		"6h": at(21, 8, 32, 5), "7d": at(14, 14, 32, 5), "1d12h": at(20, 2, 32, 5), "0": now,
		"2026-11-21T06:00:00Z": at(21, 14, 0, 0), "2026-11-21T06:00:00+02:00": at(21, 12, 0, 0),
		"2026-11-21 14:00": at(21, 14, 0, 0), "2026-11-21 14:00:30": at(21, 14, 0, 30), "2026-11-21": at(21, 0, 0, 0),
		"02:40": at(21, 2, 40, 0), "21:00": at(20, 21, 0, 0), "14:32:06": at(20, 14, 32, 6),
	} {
		if got, err := moment("since", s, now, zone); err != nil || !got.Equal(want) {
			t.Errorf("%s is %s (%v), want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-6h", "yesterday", "2026-13-01", "25:00", "6"} {
		if got, err := moment("since", s, now, zone); err == nil {
			t.Errorf("%q is %s", s, got)
		}
	}
}
