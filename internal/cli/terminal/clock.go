package terminal

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Clock writes moments for people: by the clock on their wall, and how far they are
// from now. What programs read has moments in UTC and as RFC 3339, and so do the
// texts of the core; Text brings these into the form of people.
type Clock struct {
	Now time.Time
	// Zone is where people are; nil is UTC.
	Zone *time.Location
	// other names the zone of what is told of, where that is not the people's.
	other *time.Location
}

// In is the clock of something that has a zone of its own, by its IANA name; the
// same clock where it has none, or none that is known.
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

// As is the clock as it was at a moment, from which others are then seen.
func (c Clock) As(then time.Time) Clock {
	c.Now = then
	return c
}

// Day is the day of a moment, as people have it.
func (c Clock) Day(t time.Time) string { return t.In(c.place()).Format(time.DateOnly) }

// At is when something is: "14:32"; with the date where that is another day, and with
// the zone where that is not the people's.
func (c Clock) At(t time.Time) string { return t.In(c.place()).Format(c.form(t)) }

// Column is At for the moments of a block: all in one form, the longest that any of
// them needs.
func (c Clock) Column(moments ...time.Time) func(time.Time) string {
	form := ""
	for _, t := range moments {
		if of := c.form(t); len(of) > len(form) {
			form = of
		}
	}
	return func(t time.Time) string { return t.In(c.place()).Format(form) }
}

func (c Clock) form(t time.Time) string {
	form := "15:04"
	if c.Day(t) != c.Day(c.Now) {
		form = "2006-01-02 15:04"
	}
	here := Clock{Zone: c.Zone}
	if c.other != nil && t.In(c.place()).Format("-0700") != t.In(here.place()).Format("-0700") {
		form += " MST"
	}
	return form
}

// When is how far something is from now, and when: "in 19m, 14:32", "3m ago, 14:10".
func (c Clock) When(t time.Time) string {
	if t.After(c.Now) {
		return "in " + Age(t.Sub(c.Now)) + ", " + c.At(t)
	}
	return Age(c.Now.Sub(t)) + " ago, " + c.At(t)
}

// Age is a length of time to the unit that matters: 12s, 3m, 5h, 8d.
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

// moments are those that the core writes into texts. What is quoted is somebody's own
// word, what is an example says how to write one, and what goes on is part of a longer
// word.
var moments = regexp.MustCompile(`(?:"|such as )?\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b"?`)

// Text is a text of the core, with each moment as At has it.
func (c Clock) Text(s string) string {
	return moments.ReplaceAllStringFunc(s, func(found string) string {
		t, err := time.Parse(time.RFC3339, found)
		if err != nil || strings.ContainsAny(found, `" `) {
			return found
		}
		return c.At(t)
	})
}

// Texts are some texts, likewise.
func (c Clock) Texts(texts []string) []string {
	all := make([]string, len(texts))
	for n, text := range texts {
		all[n] = c.Text(text)
	}
	return all
}
