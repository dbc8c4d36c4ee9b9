package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

// Process is everything that commands know of the process they run in.
type Process = process.Process

// Build says which gpupool this is.
type Build = process.Build

// ThisProcess is the process that the program runs in.
func ThisProcess(b Build) Process {
	return Process{
		Args: os.Args[1:], Getenv: os.Getenv,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: terminalSize, Signals: stopSignals, Exit: os.Exit, Now: time.Now, Zone: time.Local, Build: b,
	}
}

// terminalSize is 80 by 24 where a terminal does not tell its size.
func terminalSize(stream io.Writer) (width, height int, ok bool) {
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

// stopSignals delivers SIGINT and SIGTERM. It also ignores SIGPIPE: a closed pipe to head must
// not kill a run between a launch and its record. Writes then fail instead.
func stopSignals(c chan<- os.Signal) (stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return func() { signal.Stop(c) }
}
