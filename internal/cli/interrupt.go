package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// interruptError is the cause of a context that a signal ended.
type interruptError struct{ signal os.Signal }

func (e *interruptError) Error() string {
	if e.signal == syscall.SIGTERM {
		return "stopped by SIGTERM"
	}
	return "interrupted"
}

func (e *interruptError) code() int {
	if e.signal == syscall.SIGTERM {
		return exitTerminate
	}
	return exitInterrupt
}

// beside keeps another error that the signal did not bring about.
func (e *interruptError) beside(err error) error {
	var same *interruptError
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &same) {
		return e
	}
	return errors.Join(e, err)
}

// interruptible returns a context that the first SIGINT or SIGTERM ends. The
// second one ends the process.
func (p Process) interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	ignore := p.Signals(signals)
	done := make(chan struct{})
	go func() {
		var first *interruptError
		for {
			select {
			case s := <-signals:
				if first != nil {
					p.Exit(first.code())
					return
				}
				first = &interruptError{s}
				cancel(first)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		ignore()
		close(done)
		cancel(nil)
	}
}

// interrupted returns the signal that ended the context, if one did.
func interrupted(ctx context.Context) *interruptError {
	cause, _ := context.Cause(ctx).(*interruptError) //nolint:errorlint // the cause itself, not a chain
	return cause
}

// pause waits, unless something ends the context: then it returns why.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// onInterrupt says what a first signal leads to.
func (p Process) onInterrupt(ctx context.Context, what string) (stop func()) {
	stopped := context.AfterFunc(ctx, func() {
		if s := interrupted(ctx); s != nil {
			erase := ""
			if p.styleOf(p.Stderr).terminal() {
				erase = eraseLine // of a progress that is being shown
			}
			fmt.Fprintf(raw(p.Stderr), "%sgpupool: %s; %s\n", erase, s, what)
		}
	})
	return func() { stopped() }
}
