// Package problem describes invalid declarations of pools and budgets: the attribute, the problem
// and the remedy.
package problem

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// Problem is an error, or a suspicious value, in a declaration.
type Problem struct {
	Attribute string `json:"attribute"` // a path, "offerings[1].spot_max_price"
	Summary   string `json:"summary"`   // the problem
	Detail    string `json:"detail"`    // the remedy
}

// String returns the problem on one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s. %s", p.Attribute, p.Summary, p.Detail)
}

// List is the problems of one declaration.
type List []Problem

// Add adds a problem; args belong to the summary.
func (l *List) Add(attribute, detail, summary string, args ...any) {
	*l = append(*l, Problem{Attribute: attribute, Summary: fmt.Sprintf(summary, args...), Detail: detail})
}

// Within adds a problem if a number is out of range.
func (l *List) Within(attribute string, n, least, most int64, unit, detail string) {
	if n < least || n > most {
		l.Add(attribute, detail, "%d%s is out of range: it must be between %d and %d", n, unit, least, most)
	}
}

// Lasts adds a problem if a duration, given as written, is out of range.
func (l *List) Lasts(attribute, written string, d, least, most time.Duration, detail string) {
	if d < least || d > most {
		l.Add(attribute, detail, "%s is out of range: it must be between %s and %s", written, duration.Words(least), duration.Words(most))
	}
}

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$`)

// Name adds a problem if a name of a pool or a budget is invalid; of says which of the two it
// names.
func (l *List) Name(attribute, name, of string) {
	if !nameForm.MatchString(name) {
		l.Add(attribute, "Use 1 to 50 lower-case letters, digits and hyphens, with a letter or digit first and last.", "%q is not a valid name of %s", name, of)
	}
}

// OneOf adds a problem if a value is not a known one.
func OneOf[T ~string](l *List, attribute string, value T, known ...T) {
	if slices.Contains(known, value) {
		return
	}
	names := make([]string, len(known))
	for n, k := range known {
		names[n] = fmt.Sprintf("%q", string(k))
	}
	l.Add(attribute, "Choose one of "+strings.Join(names, ", ")+".", "%q is not known", string(value))
}
