// Package exception is the common part of a grant of hours to a budget and a hold of a pool. Both
// are a person's temporary decision in addition to the declaration, with its start, end, author and
// reason. Packages budget and spotpool define what is granted or held. An exception expires, or is
// released early.
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
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// The limits of an exception's duration.
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
	// A random ID.
	ID string `json:"id"`
	// When it began.
	From time.Time `json:"from"`
	// When it expires.
	Until time.Time `json:"until"`
	// The person.
	Who string `json:"who"`
	// The reason.
	Why string `json:"why"`
}

// For returns it as a reader of its object may see it: not a text that can name other objects.
func (e Exception) For(reader reason.Renderer) Exception {
	if !reader.Whole() {
		e.Who, e.Why = "", ""
	}
	return e
}

// Release requests an early end. Why may be empty.
type Release struct {
	At       time.Time
	Who, Why string
}

// Request requests an exception.
type Request struct {
	// ID is that of a job's effect, so that a repeated request has no second effect. If empty, a
	// random one is used.
	ID       string
	For      time.Duration
	Who, Why string
}

// RefusedError reports that an exception is not possible, however often it is requested.
type RefusedError struct{ Err error }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// Refuse returns a *RefusedError with a formatted reason.
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }

// ValidateFor returns why an exception cannot last for a duration.
func ValidateFor(length time.Duration) error {
	switch {
	case length < Shortest:
		return fmt.Errorf("it must last for at least %s, and this is %s", duration.Words(Shortest), duration.Words(length))
	case length > Longest:
		return fmt.Errorf("it may last for at most %s, and this is %s: change the declaration for what is to stay", duration.Words(Longest),
			duration.Words(length))
	}
	return nil
}

// ValidateWho returns what is wrong with an author.
func ValidateWho(who string) error { return text("who", strings.TrimSpace(who), mostWho) }

// ValidateWhy returns what is wrong with a reason.
func ValidateWhy(why string) error { return text("reason", strings.TrimSpace(why), mostWhy) }

// Begin returns the requested exception, from now on.
func (r Request) Begin(id string, now time.Time) (Exception, error) {
	if err := ValidateFor(r.For); err != nil {
		return Exception{}, err
	}
	from := now.UTC().Truncate(time.Second)
	e := Exception{ID: id, From: from, Until: from.Add(r.For), Who: strings.TrimSpace(r.Who), Why: strings.TrimSpace(r.Why)}
	return e, e.Validate()
}

// Validate returns what is wrong with an exception.
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

func text(what, s string, most int) error {
	switch {
	case s == "":
		return fmt.Errorf("it has no %s, which others need later", what)
	case len(s) > most:
		return fmt.Errorf("its %s is longer than %d bytes", what, most)
	case !strings.ContainsFunc(s, visible):
		return fmt.Errorf("its %s has no visible characters", what)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) }):
		return fmt.Errorf("its %s must be one line of text", what)
	}
	return nil
}

// Validate returns what is wrong with the author and the reason of a release.
func (r Release) Validate() error {
	if err := ValidateWho(r.Who); err != nil {
		return err
	}
	if strings.TrimSpace(r.Why) == "" {
		return nil
	}
	return ValidateWhy(r.Why)
}

// InForce reports whether it has not ended. One that begins by a clock slightly ahead is already in
// force.
func (e Exception) InForce(now time.Time) bool { return now.Before(e.Until) }

// InForce returns the exceptions of a list that have not ended.
func InForce[T interface{ InForce(now time.Time) bool }](list []T, now time.Time) []T {
	return slices.DeleteFunc(slices.Clone(list), func(e T) bool { return !e.InForce(now) })
}

// ValidateAll returns the first error of a list, with a description of the item.
func ValidateAll[T interface{ Validate() error }](what string, list []T) error {
	for _, e := range list {
		if err := e.Validate(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// String returns who decided it, until when it holds, and why.
func (e Exception) String() string {
	until := "until " + e.Until.UTC().Format(time.RFC3339)
	if e.Who == "" { // for a reader of a part
		return until
	}
	return "by " + e.Who + " " + until + ": " + e.Why
}

// Begun returns the start of its event about an object, with the reason.
func (e Exception) Begun(of history.About, why reason.Reason) history.About {
	of.At, of.Actor, of.Reasons = e.From, e.Who, reason.Reasons{why}
	return of
}

// Ended returns the event of its expiry, which ends describes.
func (e Exception) Ended(of history.About, ends reason.Reason) history.Event {
	of.At, of.Reasons = e.Until, reason.Reasons{ends, reason.Given(reason.NewForeign(e.Why))}
	return of.Exception(history.Release, e.ID, time.Time{})
}

// Released returns the event of its early release, which ends describes.
func (e Exception) Released(of history.About, r Release, ends reason.Reason) history.Event {
	of.At, of.Actor, of.Reasons = r.At, r.Who, reason.Reasons{ends}
	if why := strings.TrimSpace(r.Why); why != "" {
		of.Reasons = append(of.Reasons, reason.Given(reason.NewForeign(why)))
	}
	return of.Exception(history.Release, e.ID, time.Time{})
}
