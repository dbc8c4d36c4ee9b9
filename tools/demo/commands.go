package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// line is one line of a story, as its command gets it.
type line struct {
	*testscript.TestScript
	negated bool
	args    []string
}

// commands are those that the package comment describes.
func (s *stage) commands(ctx context.Context) map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for _, c := range []struct {
		usage       string
		least, most int // arguments
		do          func(context.Context, line) error
	}{
		{"step TITLE WHY", 2, 2, s.step},
		{"$ COMMAND...", 1, 99, s.shell},
		{"quietly COMMAND...", 1, 99, func(ctx context.Context, l line) error { _, err := s.quietly(ctx, l.args); return err }},
		{"until RE COMMAND...", 2, 99, s.until},
		{"fg", 0, 0, s.foreground},
		{"interrupt", 0, 0, s.interrupt},
		{"export NAME=VALUE...", 1, 99, s.export},
		{"post PATH BODY", 2, 2, s.post},
		{"instances N", 1, 1, s.instances},
		{"cluster [joined]", 0, 1, s.enterCluster},
		{"apply COMMAND...", 1, 99, s.apply},
		{"pods N [PHASE]", 1, 2, s.pods},
		{"pause TIME WHY", 2, 2, s.pause},
	} {
		name, _, _ := strings.Cut(c.usage, " ")
		all[name] = func(ts *testscript.TestScript, negated bool, args []string) {
			if len(args) < c.least || len(args) > c.most || negated && name != "$" {
				ts.Fatalf("usage: %s", c.usage)
			}
			ts.Check(c.do(ctx, line{ts, negated, args}))
		}
	}
	return all
}

// columns is how wide a terminal is at least.
const columns = 80

func (s *stage) step(_ context.Context, l line) error {
	s.steps++
	title := wrap(fmt.Sprintf("%d. %s", s.steps, l.args[0]), "   ")
	if colors(s.out) {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	_, err := fmt.Fprintf(s.out, "\n%s\n   %s\n", title, wrap(l.args[1], "   "))
	return err
}

// wrap breaks a text into lines that fit behind an indent, which all but the first get.
func wrap(text, indent string) string {
	var wrapped strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case used == 0:
		case len(indent)+used+1+len(word) > columns:
			wrapped.WriteString("\n" + indent)
			used = 0
		default:
			wrapped.WriteByte(' ')
			used++
		}
		wrapped.WriteString(word)
		used += len(word)
	}
	return wrapped.String()
}

// shell shows a command, and runs it.
func (s *stage) shell(ctx context.Context, l line) error {
	if last := len(l.args) - 1; l.args[last] == "&" {
		return s.inBackground(ctx, l.args[:last])
	}
	_, err := s.show(ctx, l)
	var exit *exec.ExitError
	if l.negated && errors.As(err, &exit) {
		fmt.Fprintf(s.out, "   (exit code %d)\n", exit.ExitCode())
		return ctx.Err()
	}
	if l.negated && err == nil {
		return fmt.Errorf("%s: it succeeded, and must fail here", strings.Join(l.args, " "))
	}
	return err
}

var colored = regexp.MustCompile("\x1b\\[[0-9;]*m")

// show runs a command in view, and keeps what it prints for the story's stdout.
func (s *stage) show(ctx context.Context, l line) (string, error) {
	s.announce(l.args, "")
	var kept bytes.Buffer
	err := s.run(ctx, l.args, io.MultiWriter(s.out, &kept))
	printed := colored.ReplaceAllString(kept.String(), "")
	_, _ = io.WriteString(l.Stdout(), printed) // into memory
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(l.args, " "), err)
	}
	return printed, err
}

func (s *stage) inBackground(ctx context.Context, args []string) error {
	if s.background != nil {
		return errors.New("a command runs in the background: only one can")
	}
	s.announce(args, " &")
	ctx, cancel := context.WithCancel(ctx)
	cmd := s.command(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	if err := cmd.Start(); err != nil {
		cancel()
		return err
	}
	s.background = &job{Cmd: cmd, interrupt: cancel}
	return nil
}

func (s *stage) foreground(context.Context, line) error {
	if s.background == nil {
		return errors.New("no command runs in the background")
	}
	err := s.background.Wait()
	s.background.interrupt() // releases its context
	s.background = nil
	return err
}

func (s *stage) interrupt(ctx context.Context, l line) error {
	if s.background != nil {
		s.background.interrupt()
	}
	var exit *exec.ExitError
	if err := s.foreground(ctx, l); err != nil && !errors.Is(err, context.Canceled) && !errors.As(err, &exit) {
		return err
	}
	return ctx.Err()
}

// betweenRuns is how long until waits: cron would take a minute.
const betweenRuns = 5 * time.Second

func (s *stage) until(ctx context.Context, l line) error {
	match, err := regexp.Compile(l.args[0])
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; sleep(ctx, betweenRuns) {
		printed, err := s.show(ctx, line{l.TestScript, false, l.args[1:]})
		if err != nil || match.MatchString(printed) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("in %s, %s never printed %q", patience, strings.Join(l.args[1:], " "), l.args[0])
		}
	}
}

func (s *stage) export(_ context.Context, l line) error {
	s.announce(append([]string{"export"}, l.args...), "")
	for _, assignment := range l.args {
		name, value, is := strings.Cut(assignment, "=")
		if !is {
			return fmt.Errorf("%q is not NAME=VALUE", assignment)
		}
		l.Setenv(name, value)
		s.env = append(s.env, assignment)
	}
	return nil
}

func (s *stage) pause(ctx context.Context, l line) error {
	d, err := time.ParseDuration(l.args[0])
	if err == nil {
		fmt.Fprintf(s.out, "\n   (%s, in which %s)\n", d, l.args[1])
		sleep(ctx, d)
	}
	return errors.Join(err, ctx.Err())
}

// sleep waits, or until the demo is stopped.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// number is the count that a line asks for.
func (l line) number() (int, error) {
	n, err := strconv.Atoi(l.args[0])
	if err != nil {
		err = fmt.Errorf("%q is not a count", l.args[0])
	}
	return n, err
}

const (
	patience = 2 * time.Minute
	patent   = 2 * time.Second // after which a reader learns what is waited for
)

// waitFor observes until ok, and says what it waits for if that takes long.
func (s *stage) waitFor(ctx context.Context, what string, observe func(context.Context) (ok bool, state string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said := false
	for started := time.Now(); ; sleep(ctx, 200*time.Millisecond) {
		ok, state, err := observe(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for %s, and there is %s: %w", what, state, ctx.Err())
		case ok || err != nil:
			return err
		case !said && time.Since(started) > patent:
			said = true
			fmt.Fprintf(s.out, "\n   (waiting for %s, for at most %s)\n", what, patience)
		}
	}
}
