// Package wording formats lists, counts and reasons.
package wording

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// NamedAtMost is the most names of a list; the rest is counted.
const NamedAtMost = 5

// Some lists the first names and counts the rest.
func Some(list []string) string {
	if len(list) <= NamedAtMost {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:NamedAtMost-1], ", "), len(list)-NamedAtMost+1)
}

// Plural returns the word for a count.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Count counts things: 0 pods, 1 pod, 2 pods, 2 launches.
func Count(n int, thing string) string { return Amount(strconv.Itoa(n), thing) }

// Amount is Count for a decimal: 0.5 GPUs, 1 GPU.
func Amount(number, thing string) string {
	switch {
	case number == "1":
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		return number + " " + thing + "es"
	}
	return number + " " + thing + "s"
}

// Are is "is" or "are" for a count.
func Are(n int) string { return Plural(n, "is", "are") }

// Have is "has" or "have" for a count.
func Have(n int) string { return Plural(n, "has", "have") }

// Instant formats a time for decisions.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

var instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// Instants formats each time in a text that Instant wrote.
func Instants(text string, format func(time.Time) string) string {
	return instants.ReplaceAllStringFunc(text, func(instant string) string {
		at, err := time.Parse(time.RFC3339, instant)
		if err != nil {
			return instant
		}
		return format(at)
	})
}

// Because formats a decision and its reasons on one line.
func Because(summary string, reasons []string) string {
	if len(reasons) == 0 {
		return summary
	}
	return summary + ": " + strings.Join(reasons, "; ")
}

// Verb is the verb of a decision.
type Verb struct {
	Base string // "launch"
	Past string // "launched"
}

// Capital returns a text with a capital letter, unless it begins with a name: of an argument, an object, an instance or a command.
func Capital(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	if word == "" || word[0] < 'a' || word[0] > 'z' || word == "gpupool" || strings.ContainsAny(word, "_/:.=0123456789") ||
		strings.HasPrefix(rest, "= ") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Sentence returns a text with a capital letter and, unless it ends with a command, a full stop.
func Sentence(text string) string {
	text = Capital(text)
	if strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
		return text
	}
	return text + "."
}
