// Package printable makes visible what would steer a terminal. Names come out of
// states, records, pods and the cloud's answers, and are anyone's.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a text with its control characters written out, as in \u001b. Lines and
// tabs stay. What is written out is so as JSON has it, so that JSON stays JSON.
func Text(s string) string { return visible(s, "\n\t") }

// Line is Text for what has to stay on one line, in one column.
func Line(s string) string { return visible(s, "") }

func visible(s, kept string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return steers(r) && !strings.ContainsRune(kept, r) }) {
		return s
	}
	var b strings.Builder
	for at, r := range s {
		switch {
		case r == utf8.RuneError && invalid(s[at:]):
			fmt.Fprintf(&b, `\x%02x`, s[at])
		case steers(r) && !strings.ContainsRune(kept, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// steers says whether a terminal does something else with a character than show
// it: control characters, and those that turn the direction of text round.
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// invalid says whether a text begins with what is no UTF-8, rather than with the
// character that stands for such.
func invalid(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}
