package terminal_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	place, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func TestMomentsForPeople(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 14, 13, 0, 0, time.UTC)
	utc := terminal.Clock{Now: now}
	singapore := terminal.Clock{Now: now, Zone: zone(t, "Asia/Singapore")} // 22:13 there
	for _, tt := range []struct {
		clock    terminal.Clock
		from     time.Duration // now
		at, when string
	}{
		{utc, 19*time.Minute + 30*time.Second, "14:32", "in 19m, 14:32"},
		{utc, -3 * time.Minute, "14:10", "3m ago, 14:10"},
		{utc, -5 * time.Second, "14:12", "5s ago, 14:12"},
		{utc, 0, "14:13", "0s ago, 14:13"},
		{utc, 12 * time.Hour, "2026-11-23 02:13", "in 12h, 2026-11-23 02:13"},
		{utc, -50 * time.Hour, "2026-11-20 12:13", "2d ago, 2026-11-20 12:13"},
		{singapore, 19 * time.Minute, "22:32", "in 19m, 22:32"},
		{singapore, 2 * time.Hour, "2026-11-23 00:13", "in 2h, 2026-11-23 00:13"},
		// A budget's own zone, and one that is the people's.
		{utc.In("Asia/Tokyo"), time.Hour, "2026-11-23 00:13 JST", "in 60m, 2026-11-23 00:13 JST"},
		{singapore.In("Asia/Tokyo"), -time.Hour, "22:13 JST", "60m ago, 22:13 JST"},
		{singapore.In("Asia/Singapore"), time.Minute, "22:14", "in 60s, 22:14"},
		{singapore.In("Asia/Shanghai"), time.Minute, "22:14", "in 60s, 22:14"},
		{singapore.In(""), time.Minute, "22:14", "in 60s, 22:14"},
		{singapore.In("Nowhere/None"), time.Minute, "22:14", "in 60s, 22:14"},
	} {
		moment := now.Add(tt.from)
		if at, when := tt.clock.At(moment), tt.clock.When(moment); at != tt.at || when != tt.when {
			t.Errorf("%s: got %q and %q, want %q and %q", tt.from, at, when, tt.at, tt.when)
		}
	}
}

func TestMomentsOfABlock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 14, 13, 0, 0, time.UTC)
	clock := terminal.Clock{Now: now}
	for _, tt := range []struct {
		clock terminal.Clock
		hours []int // before now
		want  string
	}{
		{clock, []int{1, 2}, "14:13"},
		{clock, []int{1, 20}, "2026-11-22 14:13"},
		{clock.As(now.Add(24 * time.Hour)), []int{1}, "2026-11-22 14:13"},
		{clock.In("Asia/Tokyo"), []int{1}, "23:13 JST"},
	} {
		moments := []time.Time{}
		for _, h := range tt.hours {
			moments = append(moments, now.Add(-time.Duration(h)*time.Hour))
		}
		if got := tt.clock.Column(moments...)(now); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.hours, got, tt.want)
		}
	}
	if day := clock.In("Asia/Tokyo").Day(now.Add(time.Hour)); day != "2026-11-23" {
		t.Errorf("the day there is %s", day)
	}
}

func TestMomentsInTexts(t *testing.T) {
	t.Parallel()
	clock := terminal.Clock{Now: time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC), Zone: zone(t, "Europe/Berlin")}
	for text, want := range map[string]string{
		"sold out, cooling down until 2026-11-22T23:40:00Z; and more": "sold out, cooling down until 00:40; and more",
		"(since 2026-11-20T04:00:00.123Z)":                            "(since 2026-11-20 05:00)",
		"no time such as 2026-11-22T23:40:00Z":                        "no time such as 2026-11-22T23:40:00Z",
		`"2026-11-22T23:40:00Z" is to come`:                           `"2026-11-22T23:40:00Z" is to come`,
		"pod-2026-11-22T23:40:00Zx 2026-11-22 2026-13-45T99:99:99Z":   "pod-2026-11-22T23:40:00Zx 2026-11-22 2026-13-45T99:99:99Z",
	} {
		if got := clock.Text(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
