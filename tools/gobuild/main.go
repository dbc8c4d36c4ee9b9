// Gobuild runs go build and shows its progress: how many packages are compiled, for how long, and
// how long that took last time. Packages in the build cache do not count. It imports only the
// standard library, since it is built first on a fresh machine.
//
//	gobuild -name NAME -o FILE [flags] -- [flags of go build] PACKAGE...
//
// On a terminal it rewrites one line. In a log it prints a line now and then. A build of a
// second prints nothing. What the compiler prints comes at the end. An interrupt stops go
// build, and removes its temporary files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// interrupted is the exit code of a program that Ctrl-C stopped.
const interrupted = 130

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var b build
	flag.StringVar(&b.name, "name", "", "name of the build, for the reader")
	flag.StringVar(&b.dir, "C", "", "run go build in this `directory`")
	flag.StringVar(&b.output, "o", "", "write the program to this `file`, or the programs to this folder")
	flag.StringVar(&b.usually, "usually", "", "how long the build usually takes, for the first time")
	flag.StringVar(&b.last, "last", "", "`file` that keeps how long the build took")
	every := flag.Duration("every", 15*time.Second, "how often to print a line in a log")
	flag.Parse()
	b.arguments = flag.Args()

	printed, err := b.run(ctx, &screen{out: os.Stdout, rewrites: isTerminal(os.Stdout), every: *every})
	if ctx.Err() != nil || wasInterrupted(err) {
		os.Exit(interrupted)
	}
	stop()
	fmt.Fprint(os.Stderr, printed)
	if err != nil {
		fmt.Fprintf(os.Stderr, "building %s: %v\n", b.name, err)
		os.Exit(1)
	}
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// wasInterrupted reports whether a signal ended the go command. Ctrl-C reaches it too, and it may
// end before this process learns of the signal.
func wasInterrupted(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, is := exit.Sys().(syscall.WaitStatus)
	return is && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM)
}
