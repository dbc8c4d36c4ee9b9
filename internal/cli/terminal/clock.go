package terminal

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Clock formats times for text output: local time, and the distance from now. JSON and the
// texts of the core have UTC in RFC 3339; Text converts those.
type Clock struct {
	Now time.Time
	// Zone is the local time zone; nil is UTC.
	Zone *time.Location
	// other is the time zone of the object, if it has its own.
	other *time.Location
	// zoned adds the zone to each time.
	zoned bool
	// exact writes each time in UTC, in RFC 3339.
	exact bool
}

// Exact is a clock for a surface that formats times for its reader: it writes them as JSON does, and no distances.
func Exact(now time.Time) Clock { return Clock{Now: now, exact: true} }

// WithZone is the clock whose times all have their zone, for text without a heading that has it.
func (c Clock) WithZone() Clock {
	c.zoned = true
	return c
}

// ZoneAt is the abbreviation of the time zone at a time, such as "UTC" or "CST".
func (c Clock) ZoneAt(t time.Time) string { return t.In(c.place()).Format("MST") }

// In is the clock of an object with its own time zone, by IANA name. If the name is empty or
// unknown, it is the same clock.
func (c Clock) In(zone string) Clock {
	if other, err := time.LoadLocation(zone); err == nil && zone != "" {
		c.other = other
	}
	return c
}

func (c Clock) place() *time.Location {
	switch {
	case c.other != nil:
		return c.other
	case c.Zone != nil:
		return c.Zone
	}
	return time.UTC
}

// As is the clock at another time.
func (c Clock) As(then time.Time) Clock {
	c.Now = then
	return c
}

// Day is the day of a time, without a zone.
func (c Clock) Day(t time.Time) string { return t.In(c.place()).Format(time.DateOnly) }

// At formats a time: "14:32", with the date if it is another day. It has the zone if that is
// not local, or if all times have it.
func (c Clock) At(t time.Time) string {
	if c.exact {
		return wording.Instant(t)
	}
	return t.In(c.place()).Format(c.form(t))
}

// Column is At for several times: all in the longest form that one of them needs.
func (c Clock) Column(moments ...time.Time) func(time.Time) string {
	form := ""
	for _, t := range moments {
		if of := c.form(t); len(of) > len(form) {
			form = of
		}
	}
	if c.exact {
		return c.At
	}
	return func(t time.Time) string { return t.In(c.place()).Format(form) }
}

func (c Clock) form(t time.Time) string {
	form := "15:04"
	if c.Day(t) != c.Day(c.Now) {
		form = "2006-01-02 15:04"
	}
	here := Clock{Zone: c.Zone}
	if c.zoned || c.other != nil && t.In(c.place()).Format("-0700") != t.In(here.place()).Format("-0700") {
		form += " MST"
	}
	return form
}

// When is the distance from now, and the time: "in 19m, 14:32", "3m ago, 14:10".
func (c Clock) When(t time.Time) string {
	if c.exact {
		return c.At(t)
	}
	if t.Sub(c.Now) >= time.Second { // a cluster's clock can be slightly ahead of this one
		return "in " + Age(t.Sub(c.Now)) + ", " + c.At(t)
	}
	return Age(c.Now.Sub(t)) + " ago, " + c.At(t)
}

// Age is a duration in one unit: 12s, 3m, 5h, 8d.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// moments are the times in texts of the core. Quoted times, examples and parts of longer words
// are not converted.
var moments = regexp.MustCompile(`(?:"|such as )?\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b"?`)

// Text is a text of the core with each time in the form of At.
func (c Clock) Text(s string) string {
	return moments.ReplaceAllStringFunc(s, func(found string) string {
		t, err := time.Parse(time.RFC3339, found)
		if err != nil || strings.ContainsAny(found, `" `) {
			return found
		}
		return c.At(t)
	})
}

// Texts is Text for several texts.
func (c Clock) Texts(texts []string) []string {
	all := make([]string, len(texts))
	for n, text := range texts {
		all[n] = c.Text(text)
	}
	return all
}
