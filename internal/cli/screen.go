package cli

import (
	"fmt"
	"strings"
)

// screen shows texts one after the other: on a terminal each in the place of
// the one before, elsewhere with an empty line between them.
type screen struct {
	session *session
	look    style
	lines   int // of the text on the terminal
	before  bool
}

func (s *screen) show(text string) error {
	if !s.look.terminal() {
		if s.before {
			text = "\n" + text
		}
		s.before = true
		return s.session.put([]byte(text))
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if most := max(2, s.look.height-1); len(lines) > most {
		hidden := len(lines) - most + 1
		lines = append(lines[:most-1], fmt.Sprintf("… %d more lines: name a pool to see it alone", hidden))
	}
	var b strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	b.WriteString("\r\x1b[J")
	for _, line := range lines {
		b.WriteString(s.look.clip(withoutSteering(line, s.look.colour)) + "\n")
	}
	s.lines = len(lines)
	return putTo(raw(s.session.Stdout), []byte(b.String()))
}

// note says why there is nothing new to show.
func (s *screen) note(err error) error {
	if s.look.terminal() {
		return s.show(s.look.paint(red, oneLine(err.Error())) + "\n")
	}
	s.session.complain(err)
	return nil
}
