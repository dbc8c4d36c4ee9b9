package cli

import (
	"errors"
	"fmt"
	"syscall"
)

// The exit codes. 130 and 143 are 128 and the number of the signal.
const (
	exitDone      = 0
	exitFailed    = 1  // nothing of what was asked for could be done
	exitChanges   = 2  // with --detailed-exitcode alone: something was done, or would be
	exitPartly    = 3  // some declarations failed and the rest was done
	exitRunLocked = 11 // another run is under way
	exitUsage     = 64 // EX_USAGE of sysexits.h
	exitInterrupt = 130
	exitTerminate = 143
)

// exitError attaches an exit code to an error. Without an error the command
// has said everything already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func withExitCode(code int, err error) error {
	if code == exitDone && err == nil {
		return nil
	}
	return &exitError{code: code, err: err}
}

// usageError says that the command was called in a wrong way.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// exitCode reads the code that belongs to an error.
func exitCode(err error) int {
	var coded *exitError
	var usage *usageError
	var interrupt *interruptError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &interrupt):
		return interrupt.code()
	case errors.Is(err, syscall.EPIPE):
		return exitDone // the reader had enough
	}
	return exitFailed
}

// silent reports whether there is nothing to say about an error.
func silent(err error) bool {
	var coded *exitError
	return errors.As(err, &coded) && coded.err == nil || errors.Is(err, syscall.EPIPE)
}
