// Package problem describes invalid declarations of pools and budgets: the attribute, and why.
package problem

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Problem is an error, or a suspicious value, in a declaration.
type Problem struct {
	Attribute string        // a path, "offerings[1].spot_max_price"
	Reason    reason.Reason // its remedy says what to write instead
}

// String returns the problem on one line.
func (p Problem) String() string { return p.Attribute + ": " + p.Reason.String() }

// List is the problems of one declaration.
type List []Problem

// Add adds a problem.
func (l *List) Add(attribute string, r reason.Reason) {
	*l = append(*l, Problem{Attribute: attribute, Reason: r})
}

// Within adds a problem if a number is out of range.
func (l *List) Within(attribute string, n, least, most int64, why func(n, least, most reason.Count) reason.Reason) {
	if n < least || n > most {
		l.Add(attribute, why(reason.Count(n), reason.Count(least), reason.Count(most)))
	}
}

// Lasts adds a problem if a duration, given as written, is out of range.
func (l *List) Lasts(attribute, written string, d, least, most time.Duration, why func(written reason.Value, least, most reason.Duration) reason.Reason) {
	if d < least || d > most {
		l.Add(attribute, why(reason.NewValue(written), reason.Duration(least), reason.Duration(most)))
	}
}

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$`)

// Name adds a problem if the name of an object of a kind is invalid.
func (l *List) Name(attribute, name, kind string) {
	if !nameForm.MatchString(name) {
		l.Add(attribute, reason.InvalidName(reason.Quoted(name), reason.Word(strings.ReplaceAll(kind, "_", " "))))
	}
}

// OneOf adds a problem if a value is not a known one.
func OneOf[T ~string](l *List, attribute string, value T, known ...T) {
	if slices.Contains(known, value) {
		return
	}
	choices := make(reason.Choices, len(known))
	for n, k := range known {
		choices[n] = string(k)
	}
	l.Add(attribute, reason.UnknownValue(reason.Quoted(value), choices))
}
