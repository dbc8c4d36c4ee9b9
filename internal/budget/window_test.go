package budget

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseWindow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "90m": 90 * time.Minute, "1d12h": 36 * time.Hour, "60s": time.Minute, "400d": 400 * 24 * time.Hour,
		"1h0.5s": time.Hour + 500*time.Millisecond, "2w": 14 * 24 * time.Hour,
	} {
		if got, err := ParseWindow(text); err != nil || got != want {
			t.Errorf("ParseWindow(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "0", "59s", "401d", "-24h", "-7d", "+7d", "1d-1h", "1d+1h", "d", "7", "day", "7 d", "2y", "58w", "1.5d", "99999d", "65535d2562047h", "1h1ns",
		"24h7d", "1d1d", "9223372036854775807h",
	} {
		if got, err := ParseWindow(text); err == nil {
			t.Errorf("ParseWindow(%q) = %s, want an error", text, got)
		}
	}
}

func TestCalendarWindows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone, now, start, end string
		period                      Period
		hours                       int
	}{
		{name: "a day of UTC", period: Day, now: "2026-07-15T12:00:00Z", start: "2026-07-15T00:00:00Z", end: "2026-07-16T00:00:00Z", hours: 24},
		{name: "its first moment", period: Day, now: "2026-07-15T00:00:00Z", start: "2026-07-15T00:00:00Z", end: "2026-07-16T00:00:00Z", hours: 24},
		{name: "its last moment", period: Day, now: "2026-07-15T23:59:59.999Z", start: "2026-07-15T00:00:00Z", end: "2026-07-16T00:00:00Z", hours: 24},
		{
			name: "a day east of UTC", zone: "Asia/Singapore", period: Day, now: "2026-07-15T17:00:00Z", start: "2026-07-15T16:00:00Z",
			end: "2026-07-16T16:00:00Z", hours: 24,
		},
		{
			name: "clocks go forward", zone: "Europe/Berlin", period: Day, now: "2026-03-29T12:00:00Z", start: "2026-03-28T23:00:00Z",
			end: "2026-03-29T22:00:00Z", hours: 23,
		},
		{
			name: "clocks go back", zone: "Europe/Berlin", period: Day, now: "2026-10-25T12:00:00Z", start: "2026-10-24T22:00:00Z", end: "2026-10-25T23:00:00Z",
			hours: 25,
		},
		{
			name: "half an hour back", zone: "Australia/Lord_Howe", period: Day, now: "2026-04-04T20:00:00Z", start: "2026-04-04T13:00:00Z",
			end: "2026-04-05T13:30:00Z",
		},
		{
			name: "midnight is skipped", zone: "Africa/Cairo", period: Day, now: "2026-04-24T12:00:00Z", start: "2026-04-23T22:00:00Z",
			end: "2026-04-24T21:00:00Z", hours: 23,
		},
		{
			name: "midnight comes twice", zone: "America/Havana", period: Day, now: "2026-11-01T12:00:00Z", start: "2026-11-01T04:00:00Z",
			end: "2026-11-02T05:00:00Z", hours: 25,
		},
		{
			name: "the hour before midnight comes twice", zone: "Africa/Cairo", period: Day, now: "2026-10-29T20:30:00Z", start: "2026-10-28T21:00:00Z",
			end: "2026-10-29T22:00:00Z", hours: 25,
		},
		{
			name: "a minute of it came before clocks went back", zone: "America/St_Johns", period: Day, now: "2010-11-07T02:45:00Z",
			start: "2010-11-07T02:30:00Z", end: "2010-11-08T03:30:00Z", hours: 25,
		},
		{
			name: "a day is left out", zone: "Pacific/Apia", period: Day, now: "2011-12-30T10:30:00Z", start: "2011-12-30T10:00:00Z",
			end: "2011-12-31T10:00:00Z", hours: 24,
		},
		{name: "a week begins on Monday", period: Week, now: "2026-07-19T23:00:00Z", start: "2026-07-13T00:00:00Z", end: "2026-07-20T00:00:00Z", hours: 168},
		{name: "Monday", period: Week, now: "2026-07-20T00:00:00Z", start: "2026-07-20T00:00:00Z", end: "2026-07-27T00:00:00Z", hours: 168},
		{name: "a week across the year", period: Week, now: "2027-01-01T00:00:00Z", start: "2026-12-28T00:00:00Z", end: "2027-01-04T00:00:00Z", hours: 168},
		{
			name: "a week of daylight saving", zone: "America/New_York", period: Week, now: "2026-03-08T12:00:00Z", start: "2026-03-02T05:00:00Z",
			end: "2026-03-09T04:00:00Z", hours: 167,
		},
		{name: "a short month", period: Month, now: "2026-02-28T23:00:00Z", start: "2026-02-01T00:00:00Z", end: "2026-03-01T00:00:00Z", hours: 28 * 24},
		{name: "a leap year's", period: Month, now: "2028-02-29T01:00:00Z", start: "2028-02-01T00:00:00Z", end: "2028-03-01T00:00:00Z", hours: 29 * 24},
		{name: "from the 31st", period: Month, now: "2026-01-31T23:00:00Z", start: "2026-01-01T00:00:00Z", end: "2026-02-01T00:00:00Z", hours: 31 * 24},
		{
			name: "a month of daylight saving", zone: "Europe/Berlin", period: Month, now: "2026-10-31T22:59:59Z", start: "2026-09-30T22:00:00Z",
			end: "2026-10-31T23:00:00Z", hours: 31*24 + 1,
		},
		{name: "the first quarter", period: Quarter, now: "2026-03-31T00:00:00Z", start: "2026-01-01T00:00:00Z", end: "2026-04-01T00:00:00Z", hours: 90 * 24},
		{
			name: "the last quarter", zone: "Asia/Tokyo", period: Quarter, now: "2026-12-31T14:59:59Z", start: "2026-09-30T15:00:00Z",
			end: "2026-12-31T15:00:00Z", hours: 92 * 24,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, err := Declaration{Period: test.period, TimeZone: test.zone}.WindowAt(at(t, test.now), time.LoadLocation)
			if err != nil {
				t.Fatal(err)
			}
			if !w.Start.Equal(at(t, test.start)) || !w.End.Equal(at(t, test.end)) {
				t.Errorf("from %s to %s, want %s to %s", w.Start, w.End, test.start, test.end)
			}
			if length := w.End.Sub(w.Start); test.hours != 0 && length.Hours() != float64(test.hours) {
				t.Errorf("it lasts %s, want %d hours", length, test.hours)
			}
		})
	}
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

func TestRollingWindowEndsNow(t *testing.T) {
	t.Parallel()
	w, err := Declaration{Window: "7d"}.WindowAt(noon, time.LoadLocation)
	if err != nil || !w.Rolling || !w.End.Equal(noon) || w.End.Sub(w.Start) != 7*24*time.Hour {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestPeriodsFollowEachOther walks through zones whose clocks change in every
// way: each moment is in the one period that the last one's end begins.
func TestPeriodsFollowEachOther(t *testing.T) {
	t.Parallel()
	zones := []string{
		"", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "America/Havana", "America/St_Johns", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut",
		"Asia/Gaza",
		"Asia/Kathmandu", "Asia/Tehran", "Asia/Pyongyang", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati",
		"America/Scoresbysund", "Antarctica/Troll", "Asia/Manila",
	}
	longest := map[Period]float64{Day: 49, Week: 8 * 24, Month: 32 * 24, Quarter: 93 * 24}
	rapid.Check(t, func(t *rapid.T) {
		d := Declaration{Period: rapid.SampledFrom([]Period{Day, Week, Month, Quarter}).Draw(t, "period"), TimeZone: rapid.SampledFrom(zones).Draw(t, "zone")}
		now := time.UnixMilli(rapid.Int64Range(0, 4_102_444_800_000).Draw(t, "now"))
		for range 4 {
			w, err := d.WindowAt(now, time.LoadLocation)
			if err != nil {
				t.Fatal(err)
			}
			if now.Before(w.Start) || !now.Before(w.End) {
				t.Fatalf("%s is not in [%s, %s)", now, w.Start, w.End)
			}
			if w.End.Sub(w.Start).Hours() > longest[d.Period] {
				t.Fatalf("%s of %s lasts %s", d.Period, w.Start, w.End.Sub(w.Start))
			}
			for _, inside := range []time.Time{w.Start, w.Start.Add(w.End.Sub(w.Start) / 2), w.End.Add(-time.Millisecond)} {
				if again, _ := d.WindowAt(inside, time.LoadLocation); !again.Start.Equal(w.Start) || !again.End.Equal(w.End) {
					t.Fatalf("%s is in [%s, %s), and %s in [%s, %s)", now, w.Start, w.End, inside, again.Start, again.End)
				}
			}
			now = w.End
		}
	})
}

// A leap year's last day has an end, also beyond the tables of a zone.
func TestTheLastDayOfALeapYear(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"} {
		d := Declaration{Period: Day, TimeZone: zone}
		w, err := d.WindowAt(time.Date(2040, 12, 31, 12, 0, 0, 0, time.UTC), time.LoadLocation)
		if err != nil || w.End.Sub(w.Start) != 24*time.Hour || w.Start.After(w.End) {
			t.Errorf("%s: %v (%v)", zone, w, err)
		}
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "UTC", "Asia/Singapore", "America/Argentina/Buenos_Aires"} {
		if _, err := ParseZone(name, time.LoadLocation); err != nil {
			t.Errorf("ParseZone(%q): %v", name, err)
		}
	}
	for _, name := range []string{"Local", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "CEST!", "europe/nowhere"} {
		if zone, err := ParseZone(name, time.LoadLocation); err == nil {
			t.Errorf("ParseZone(%q) = %s, want an error", name, zone)
		}
	}
}
