package main

import (
	"fmt"
	"io"
	"time"
)

// patience is how long a build may take before its reader learns of it.
const patience = time.Second

// clearLine starts a line of a terminal again.
const clearLine = "\r\x1b[K"

// screen shows the latest state of a build, on a terminal or in a log.
type screen struct {
	out      io.Writer
	rewrites bool          // out is a terminal
	every    time.Duration // between two lines of a log

	shown string        // the latest; empty if nothing was shown
	at    time.Duration // when, since the start of the build
}

// show shows the state at a time since the start of the build, unless it is too early.
func (s *screen) show(line string, elapsed time.Duration) {
	switch {
	case elapsed < patience || line == s.shown:
		return
	case s.rewrites:
		fmt.Fprint(s.out, clearLine, line)
	case s.shown != "" && elapsed < s.at+s.every:
		return
	default:
		fmt.Fprintln(s.out, line)
	}
	s.shown, s.at = line, elapsed
}

// end shows the last line, unless the build was too short to show any.
func (s *screen) end(line string) {
	switch {
	case s.shown == "":
	case s.rewrites:
		fmt.Fprint(s.out, clearLine, line, "\n")
	default:
		fmt.Fprintln(s.out, line)
	}
}
