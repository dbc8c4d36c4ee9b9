// Package printable escapes what would control a terminal. Names come from states, records, pods
// and Tencent Cloud's responses, and can contain anything.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text escapes control characters, as in \u001b, except newlines and tabs. The escapes are those of
// JSON, so that JSON stays valid.
func Text(s string) string { return visible(s, "\n\t") }

// Line is Text for one line and one column.
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

// steers reports whether a character controls a terminal: control characters, and those that
// reverse the direction of text.
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// invalid reports whether a text begins with invalid UTF-8, rather than with the replacement
// character.
func invalid(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}
