// Package process is the environment of a command: arguments and flags, environment
// variables, streams, logs, signals and the exit code. It knows no command by name.
package process

import (
	"io"
	"os"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

// Process is the operating system process of a command.
type Process struct {
	Args   []string // without the program's name
	Getenv func(name string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Terminal is the size of the terminal of a stream; ok is false if it has none.
	Terminal func(stream io.Writer) (width, height int, ok bool)
	// Signals delivers signals to stop, until the returned function is called.
	Signals func(chan<- os.Signal) (stop func())
	// Exit exits at once, on a second signal. Otherwise Run returns the exit code.
	Exit func(code int)
	Now  func() time.Time
	// Zone is the time zone of output; nil is UTC.
	Zone  *time.Location
	Build Build
}

// Build is the version of gpupool.
type Build struct {
	Version string // without a leading v
	Commit  string // empty if unknown
}

// escapeControls is the process with streams that escape control characters. Standard
// output may have colors.
func (p Process) escapeControls() Process {
	size := p.Terminal
	p.Terminal = func(stream io.Writer) (width, height int, ok bool) { return size(terminal.Raw(stream)) }
	colors := p.styleOf(p.Stdout).Color
	p.Stdout, p.Stderr = terminal.NewEscapingWriter(p.Stdout, colors), terminal.NewEscapingWriter(p.Stderr, false)
	return p
}

// styleOf is the style of a stream. It has colors on a terminal that is not dumb, unless
// NO_COLOR (no-color.org) is set.
func (p Process) styleOf(stream io.Writer) terminal.Style {
	width, height, ok := p.Terminal(stream)
	if !ok || p.Getenv("TERM") == "dumb" {
		return terminal.Style{}
	}
	return terminal.Style{Color: p.Getenv("NO_COLOR") == "", Width: width, Height: height}
}
