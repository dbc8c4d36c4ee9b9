package cli

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// style is how a stream may be written to.
type style struct {
	colour bool
	width  int // of the terminal; 0: none
	height int
}

// styleOf never colours what is no terminal, nor where NO_COLOR (no-color.org)
// or a dumb terminal forbids it.
func (p Process) styleOf(stream io.Writer) style {
	width, height, ok := p.Terminal(stream)
	if !ok {
		return style{}
	}
	dumb := p.Getenv("TERM") == "dumb"
	if dumb {
		return style{}
	}
	return style{colour: p.Getenv("NO_COLOR") == "", width: width, height: height}
}

func (s style) terminal() bool { return s.width > 0 }

type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	cyan   colour = "36"
	dim    colour = "2"
	bold   colour = "1"
)

func (s style) paint(c colour, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// bar draws part of whole in a few cells, on a terminal alone.
func (s style) bar(part, whole int) string {
	const cells = 10
	if !s.terminal() || whole <= 0 {
		return ""
	}
	full := min(cells, max(0, part)*cells/whole)
	if part > 0 && full == 0 {
		full = 1
	}
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}

// clip cuts a line to the terminal's width. Colours have no width.
func (s style) clip(line string) string {
	if s.width <= 1 {
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
		case width == s.width-2 && utf8.RuneCountInString(withoutColours(line[at:])) > 1:
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

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func withoutColours(s string) string { return colours.ReplaceAllString(s, "") }
