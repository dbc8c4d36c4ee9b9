// Package process is what every command has of the process it runs in: arguments and
// flags, environment, streams, logs, signals and the exit code. It knows no command
// by name.
package process

import (
	"io"
	"os"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

// Process is everything that commands know of the process they run in.
type Process struct {
	Args   []string // without the program's name
	Getenv func(name string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Terminal is the size of the terminal that a stream writes to; ok is false where
	// the stream does not write to one.
	Terminal func(stream io.Writer) (width, height int, ok bool)
	// Signals delivers requests to stop, until the returned function is called.
	Signals func(chan<- os.Signal) (stop func())
	// Exit ends the process at once. It is only for a second request to stop;
	// otherwise Run returns the exit code.
	Exit func(code int)
	Now  func() time.Time
	// Zone is where the people are who read what is printed; nil is UTC.
	Zone  *time.Location
	Build Build
}

// Build says which gpupool this is.
type Build struct {
	Version string // without a leading v
	Commit  string // empty where it is unknown
}

// withoutSteering is the process with streams on which no printed name can steer the
// terminal. Standard output may have colours.
func (p Process) withoutSteering() Process {
	size := p.Terminal
	p.Terminal = func(stream io.Writer) (width, height int, ok bool) { return size(terminal.Raw(stream)) }
	colours := p.styleOf(p.Stdout).Colour
	p.Stdout, p.Stderr = terminal.Unsteered(p.Stdout, colours), terminal.Unsteered(p.Stderr, false)
	return p
}

// styleOf is how a stream may be written to. It has no colours where it is no
// terminal, or a dumb one, or where NO_COLOR (no-color.org) is set.
func (p Process) styleOf(stream io.Writer) terminal.Style {
	width, height, ok := p.Terminal(stream)
	if !ok || p.Getenv("TERM") == "dumb" {
		return terminal.Style{}
	}
	return terminal.Style{Colour: p.Getenv("NO_COLOR") == "", Width: width, Height: height}
}
