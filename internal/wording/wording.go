// Package wording writes lists, counts and reasons as people read them, for pools
// and budgets alike.
package wording

import (
	"fmt"
	"strings"
	"time"
)

// NamedAtMost is how many of a list people are shown; the rest is counted.
const NamedAtMost = 5

// Some names the first of a list and counts the rest.
func Some(list []string) string {
	if len(list) <= NamedAtMost {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:NamedAtMost-1], ", "), len(list)-NamedAtMost+1)
}

// Plural chooses the word that goes with a count.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Are is the verb that goes with a count.
func Are(n int) string { return Plural(n, "is", "are") }

// Have is the verb that goes with a count.
func Have(n int) string { return Plural(n, "has", "have") }

// Instant writes a time as decisions show it.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Because writes what was decided and why on one line.
func Because(summary string, reasons []string) string {
	if len(reasons) == 0 {
		return summary
	}
	return summary + ": " + strings.Join(reasons, "; ")
}

// Verb is what a decision does, as people read it.
type Verb struct {
	Base string // "launch"
	Past string // "launched"
	// Regardless says that it was done whatever came of it, as asking is.
	Regardless bool
}
