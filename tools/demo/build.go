package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// lowest is the lowest priority of a process: the stories go first.
const lowest = "19"

// build builds Kubernetes in the background, while a story plays that does not need it.
type build struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // set before ended is closed

	mu     sync.Mutex
	latest string // line of its progress
}

// startBuild runs a command of the shell, which prints its progress in lines, until it ends or
// is stopped. Its processes are a group of their own: all of them get the interrupt.
func startBuild(ctx context.Context, command string) (*build, error) {
	ctx, cancel := context.WithCancel(ctx)
	b := &build{cancel: cancel, ended: make(chan struct{})}
	shell := exec.CommandContext(ctx, "nice", "-n", lowest, "sh", "-c", command)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGINT) }
	shell.WaitDelay = 5 * time.Second
	var problems bytes.Buffer
	shell.Stdout, shell.Stderr = b, &problems
	if err := shell.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(b.ended)
		if err := shell.Wait(); err != nil {
			b.err = fmt.Errorf("building Kubernetes: %w\n%s", err, bytes.TrimSpace(problems.Bytes()))
		}
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // what ignores an interrupt
	}()
	return b, nil
}

// Write keeps the latest line of the progress.
func (b *build) Write(text []byte) (int, error) {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest = string(lines[len(lines)-1])
	return len(text), nil
}

func (b *build) progress() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.latest
}

// stop interrupts the build, and returns once none of its processes is left.
func (b *build) stop() {
	b.cancel()
	<-b.ended
}

// wait returns once the build has ended, with its error. Until then it shows the progress: a
// terminal gets one line that changes, a log a line now and then.
func (b *build) wait(ctx context.Context, out io.Writer) error {
	every, before, after := 15*time.Second, "", "\n"
	if isTerminal(out) {
		every, before, after = time.Second, "\r\x1b[K", ""
	}
	select {
	case <-b.ended:
		return b.err
	default:
		fmt.Fprintln(out, "\nThe next story needs Kubernetes, which make builds in the background:")
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		fmt.Fprint(out, before, b.progress(), after)
		select {
		case <-b.ended:
			fmt.Fprint(out, before, b.progress(), "\n")
			return errors.Join(b.err, ctx.Err())
		case <-ctx.Done(): // stop waits
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
