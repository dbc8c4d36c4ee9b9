// Package exception is what a person decides for a while, beside what is declared: the
// part that a grant of hours to a budget and a hold of a pool have in common. It says
// since when, until when, who, and why; what is granted or held is for packages budget
// and spotpool to say. An exception ends by itself, or is released early.
package exception

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// The shortest and the longest time for which an exception may be asked for.
const (
	Shortest = time.Minute
	Longest  = 30 * 24 * time.Hour
)

// The longest texts, in bytes.
const (
	mostWho = 253
	mostWhy = 1000
)

// Exception is one exception.
type Exception struct {
	ID    string    `json:"id"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"` // when it ends by itself
	Who   string    `json:"who"`
	Why   string    `json:"why"`
}

// Release asks for an early end. Why may be empty.
type Release struct {
	At       time.Time
	Who, Why string
}

// Request asks for an exception.
type Request struct {
	For      time.Duration
	Who, Why string
}

// Begin is the exception that is asked for, from now on.
func (r Request) Begin(id string, now time.Time) (Exception, error) {
	switch {
	case r.For < Shortest:
		return Exception{}, fmt.Errorf("it must last for at least %s, and this is %s", duration.Words(Shortest), duration.Words(r.For))
	case r.For > Longest:
		return Exception{}, fmt.Errorf("it may last for at most %s, and this is %s: change the declaration for what is to stay", duration.Words(Longest),
			duration.Words(r.For))
	}
	from := now.UTC().Truncate(time.Second)
	e := Exception{ID: id, From: from, Until: from.Add(r.For), Who: strings.TrimSpace(r.Who), Why: strings.TrimSpace(r.Why)}
	return e, e.Validate()
}

// Validate says what an exception lacks.
func (e Exception) Validate() error {
	if e.ID == "" || e.From.IsZero() || !e.Until.After(e.From) {
		return errors.New("it has no id, or does not end after it begins")
	}
	if err := text("who", e.Who, mostWho); err != nil {
		return err
	}
	return text("reason", e.Why, mostWhy)
}

// visible reports whether people see a character.
func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// text says what is wrong with a text that must not be empty.
func text(what, s string, most int) error {
	switch {
	case s == "":
		return fmt.Errorf("it has no %s: whoever looks at it later must be able to tell", what)
	case len(s) > most:
		return fmt.Errorf("its %s is longer than %d bytes", what, most)
	case !strings.ContainsFunc(s, visible):
		return fmt.Errorf("nothing of its %s can be seen", what)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) }):
		return fmt.Errorf("its %s must be one line of text", what)
	}
	return nil
}

// Validate says what is wrong with who ends it, and why.
func (r Release) Validate() error {
	if err := text("who", strings.TrimSpace(r.Who), mostWho); err != nil {
		return err
	}
	if strings.TrimSpace(r.Why) == "" {
		return nil
	}
	return text("reason", strings.TrimSpace(r.Why), mostWhy)
}

// InForce says whether it has not ended. One that begins by a clock that is a little
// ahead is in force already.
func (e Exception) InForce(now time.Time) bool { return now.Before(e.Until) }

// InForce are those of a list that have not ended.
func InForce[T interface{ InForce(now time.Time) bool }](list []T, now time.Time) []T {
	return slices.DeleteFunc(slices.Clone(list), func(e T) bool { return !e.InForce(now) })
}

// ValidateAll says what the first of a list lacks that lacks anything, and what it is.
func ValidateAll[T interface{ Validate() error }](what string, list []T) error {
	for _, e := range list {
		if err := e.Validate(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// String says who decided it, until when it holds, and why.
func (e Exception) String() string {
	return fmt.Sprintf("by %s until %s: %s", e.Who, e.Until.UTC().Format(time.RFC3339), e.Why)
}

// Begun is what an event tells of its beginning, about an object, with the reason.
func (e Exception) Begun(of history.About, why string) history.About {
	of.At, of.Actor, of.Reasons = e.From, e.Who, []string{why}
	return of
}

// Ended is the event that it ended by itself; what says of it what ended.
func (e Exception) Ended(of history.About, what string) history.Event {
	of.At, of.Reasons = e.Until, []string{fmt.Sprintf("%s by %s ends", what, e.Who), e.Why}
	return of.Exception(history.Release, e.ID, time.Time{})
}

// Released is the event that a person ended it early.
func (e Exception) Released(of history.About, r Release, what string) history.Event {
	of.At, of.Actor, of.Reasons = r.At, r.Who, []string{fmt.Sprintf("%s by %s ends early", what, e.Who)}
	if why := strings.TrimSpace(r.Why); why != "" {
		of.Reasons = append(of.Reasons, why)
	}
	return of.Exception(history.Release, e.ID, time.Time{})
}
