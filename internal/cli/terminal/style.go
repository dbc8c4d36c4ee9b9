// Package terminal writes to terminals: colors, columns, width and progress of a run. It
// escapes control characters in names.
package terminal

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Style has the features of a stream.
type Style struct {
	Color  bool
	Width  int // of the terminal; 0 is none
	Height int
}

// IsTerminal reports whether the stream is a terminal.
func (s Style) IsTerminal() bool { return s.Width > 0 }

// Color is a color of a text, as an ANSI number.
type Color string

// The colors and font weights in use.
const (
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Cyan   Color = "36"
	Dim    Color = "2"
	Bold   Color = "1"
)

// Paint is the text in the color, if the stream has colors.
func (s Style) Paint(c Color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Bar draws part of whole in a few cells, only on a terminal.
func (s Style) Bar(part, whole int) string {
	const cells = 10
	if !s.IsTerminal() || whole <= 0 {
		return ""
	}
	full := min(cells, max(0, part)*cells/whole)
	if part > 0 && full == 0 {
		full = 1
	}
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}

// Clip cuts a line to the width of the terminal. Colors have no width.
func (s Style) Clip(line string) string {
	if s.Width <= 1 {
		return line
	}
	const reset = "\x1b[0m"
	width, escape := 0, false
	for at, r := range line {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case width == s.Width-2 && utf8.RuneCountInString(withoutColors(line[at:])) > 1:
			if strings.Contains(line[:at], "\x1b") {
				return line[:at] + "…" + reset
			}
			return line[:at] + "…"
		default:
			width++
		}
	}
	return line
}

// Wrap breaks a line between words at a width; zero is no limit. Lines after the first are
// indented. Colors have no width.
func Wrap(line string, width int, indent string) []string {
	if width <= 0 || visible(line) <= width {
		return []string{line}
	}
	words := words(strings.TrimLeft(line, " "), max(1, width-len(indent)))
	now := line[:len(line)-len(strings.TrimLeft(line, " "))]
	room, empty := width-visible(now), true
	var lines []string
	for _, word := range words {
		long := visible(word)
		switch {
		case empty:
			now, room, empty = now+word, room-long, false
			continue
		case long < room:
			now, room = now+" "+word, room-long-1
			continue
		}
		lines = append(lines, now)
		now, room = indent+word, width-visible(indent)-long
	}
	return append(lines, now)
}

// command matches a line with a command to paste.
var command = regexp.MustCompile(`^ *(?:gpupool|kubectl|terraform) `)

// WrapDetail is Wrap with a deeper indent of the lines after the first, unless the line is a command to paste.
func WrapDetail(line string, width int) []string {
	if command.MatchString(line) {
		return []string{line}
	}
	return Wrap(line, width, line[:len(line)-len(strings.TrimLeft(line, " "))]+"    ")
}

// words are the words of a line. A word that is wider than this is broken, unless it has
// colors.
func words(line string, width int) []string {
	var list []string
	for word := range strings.SplitSeq(line, " ") {
		for runes := []rune(word); len(runes) > width && !strings.Contains(word, "\x1b"); runes = []rune(word) {
			list, word = append(list, string(runes[:width])), string(runes[width:])
		}
		list = append(list, word)
	}
	return list
}

var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

func withoutColors(s string) string { return colors.ReplaceAllString(s, "") }
