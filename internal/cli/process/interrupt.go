package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

// Interrupt is the cause of a context that a signal canceled.
type Interrupt struct{ signal os.Signal }

func (e *Interrupt) Error() string {
	if e.signal == syscall.SIGTERM {
		return "stopped by SIGTERM"
	}
	return "interrupted"
}

// Code is the exit code: 128 and the number of the signal.
func (e *Interrupt) Code() int {
	if e.signal == syscall.SIGTERM {
		return exitTerminate
	}
	return exitInterrupt
}

// Join joins another error to it, unless the signal caused that error.
func (e *Interrupt) Join(err error) error {
	var same *Interrupt
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &same) {
		return e
	}
	return errors.Join(e, err)
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels. The second one
// exits the process.
func (p Process) interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	ignore := p.Signals(signals)
	done := make(chan struct{})
	go func() {
		var first *Interrupt
		for {
			select {
			case s := <-signals:
				if first != nil {
					fmt.Fprintln(terminal.Raw(p.Stderr), "gpupool: stopped by a second signal: the result is not recorded")
					p.Exit(first.Code())
					return
				}
				first = &Interrupt{s}
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

// Interrupted returns the signal that canceled the context, if any.
func Interrupted(ctx context.Context) *Interrupt {
	cause, _ := context.Cause(ctx).(*Interrupt) //nolint:errorlint // the cause itself, not something in its chain
	return cause
}

// Pause waits, or returns the cause if the context is canceled.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// OnInterrupt prints what happens after the first signal.
func (p Process) OnInterrupt(ctx context.Context, what string) (stop func()) {
	stopped := context.AfterFunc(ctx, func() {
		if s := Interrupted(ctx); s != nil {
			erase := ""
			if p.styleOf(p.Stderr).IsTerminal() {
				erase = terminal.EraseLine // erases progress
			}
			fmt.Fprintf(terminal.Raw(p.Stderr), "%sgpupool: %s; %s\n", erase, s, what)
		}
	})
	return func() { stopped() }
}
