package process

import (
	"errors"
	"fmt"
)

// The exit codes. 130 and 143 are 128 and the number of the signal.
const (
	ExitDone      = 0   // success
	ExitFailed    = 1   // failed: nothing that was requested could be done
	ExitChanges   = 2   // changes, only with `--detailed-exitcode`
	ExitTrouble   = 2   // only with `--exit-code`: an object is short, failing or exceeded
	ExitPartly    = 3   // some objects failed, and the rest was done
	ExitRunLocked = 11  // another `gpupool reconcile` runs
	exitUsage     = 64  // invalid usage
	exitInterrupt = 130 // stopped by SIGINT
	exitTerminate = 143 // stopped by SIGTERM
)

// ExitCodesHelp describes exit codes.
const ExitCodesHelp = `Exit codes:
  0         done
  1         failed
  2         with --detailed-exitcode: changes; with --exit-code: problems
  3         some declarations failed, the rest was done
  11        another run is in progress
  64        wrong usage
  130, 143  stopped by SIGINT or SIGTERM`

// exitError is an exit code with an optional error.
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

// WithExitCode attaches an exit code to an error. Without an error, nothing is printed.
func WithExitCode(code int, err error) error {
	return &exitError{code: code, err: err}
}

// usageError is wrong usage.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// WrongUsage marks an error as wrong usage.
func WrongUsage(err error) error { return &usageError{err} }

// Usagef returns an error of wrong usage.
func Usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// ExitCode is the exit code of an error.
func ExitCode(err error) int {
	var coded *exitError
	var usage *usageError
	var interrupt *Interrupt
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &interrupt):
		return interrupt.Code()
	case errors.Is(err, ErrReaderGone):
		return ExitDone // the reader closed the pipe
	}
	return ExitFailed
}

// Silent reports whether an error is not printed.
func Silent(err error) bool {
	var coded *exitError
	return errors.As(err, &coded) && coded.err == nil || errors.Is(err, ErrReaderGone)
}

// Partly is the exit code if declarations failed, and the rest did not.
func Partly(rest int) int {
	if rest > 0 {
		return ExitPartly
	}
	return ExitFailed
}
