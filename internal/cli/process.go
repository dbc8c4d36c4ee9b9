package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Process is everything that commands know of the process they run in.
type Process struct {
	Args   []string // without the program's name
	Getenv func(name string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Terminal is the size of the terminal that a stream writes to; ok is false
	// where it writes to something else.
	Terminal func(stream io.Writer) (width, height int, ok bool)
	// Signals has the requests to stop delivered until the returned function is
	// called.
	Signals func(chan<- os.Signal) (stop func())
	// Exit ends the process at once. It is for a second request to stop alone;
	// else Run returns the exit code.
	Exit  func(code int)
	Now   func() time.Time
	Build Build
}

// ThisProcess is the process that the program runs in.
func ThisProcess(b Build) Process {
	return Process{
		Args: os.Args[1:], Getenv: os.Getenv,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: terminal, Signals: stopSignals, Exit: os.Exit, Now: time.Now, Build: b,
	}
}

func terminal(stream io.Writer) (width, height int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24, true
	}
	return width, height, true
}

// stopSignals delivers SIGINT and SIGTERM. From then on a reader that goes away
// is an error of the write rather than the end of the process: a pipe to head
// must not kill a run between a launch and the record of it.
func stopSignals(c chan<- os.Signal) (stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return func() { signal.Stop(c) }
}
