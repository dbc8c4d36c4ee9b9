package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

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
		{"attached COMMAND...", 1, 99, s.attached},
		{"quietly COMMAND...", 1, 99, func(ctx context.Context, l line) error { _, err := s.quietly(ctx, l.args); return err }},
		{"until RE COMMAND...", 2, 99, s.until},
		{"fg", 0, 0, func(ctx context.Context, _ line) error { s.announce("fg"); return s.foreground(ctx, false) }},
		{"interrupt", 0, 0, func(ctx context.Context, _ line) error { s.announce("kill -INT %1"); return s.foreground(ctx, true) }},
		{"export NAME=VALUE...", 1, 99, s.export},
		{"post PATH BODY", 2, 2, s.post},
		{"instances N", 1, 1, s.instances},
		{"cluster [joined]", 0, 1, s.enterCluster},
		{"apply COMMAND...", 1, 99, s.apply},
		{"pods N [PHASE]", 1, 2, s.pods},
		{"pause TIME WHY", 2, 2, s.pause},
		{"serve", 0, 0, s.serve},
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

// columns is the longest text. A terminal has 80, and a continued command ends in a backslash.
const columns = 78

func (s *stage) step(_ context.Context, l line) error {
	s.steps++
	title := wrap(fmt.Sprintf("%d. %s", s.steps, l.args[0]), "   ")
	if colors(s.out) {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	_, err := fmt.Fprintf(s.out, "\n%s\n%s\n", title, wrap("   "+l.args[1], "   "))
	return err
}

// wrap breaks a text into lines, all but the first of which are indented.
func wrap(text, indent string) string {
	return strings.Join(terminal.Wrap(text, columns, indent), "\n")
}

func (s *stage) shell(ctx context.Context, l line) error {
	if last := len(l.args) - 1; l.args[last] == "&" {
		s.announce(l.args...)
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

// attached runs a command that writes to the reader's terminal itself.
func (s *stage) attached(ctx context.Context, l line) error {
	s.announce(l.args...)
	return s.run(ctx, l.args, s.out)
}

var colored = regexp.MustCompile("\x1b\\[[0-9;]*m")

// show runs a command in view, and keeps what it prints for the story's stdout.
func (s *stage) show(ctx context.Context, l line) (string, error) {
	s.announce(l.args...)
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
	ctx, interrupt := context.WithCancel(ctx)
	cmd := s.command(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	if err := cmd.Start(); err != nil {
		interrupt()
		return err
	}
	s.background = func(interrupted bool) error {
		defer interrupt()
		if interrupted {
			interrupt()
		}
		s.background = nil
		return cmd.Wait()
	}
	return nil
}

// foreground waits for the command in the background, which may fail if it is interrupted.
func (s *stage) foreground(ctx context.Context, interrupted bool) error {
	if s.background == nil {
		return errors.New("no command runs in the background")
	}
	err := s.background(interrupted)
	var exit *exec.ExitError
	if interrupted && (errors.Is(err, context.Canceled) || errors.As(err, &exit)) {
		return ctx.Err()
	}
	return err
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
	s.announce("export", strings.Join(l.args, " "))
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

// serve serves the page until the demo is stopped, if that was asked for.
func (s *stage) serve(ctx context.Context, _ line) error {
	if !s.serves {
		return nil
	}
	args := []string{"gpupool", "serve"}
	s.announce(args...)
	fmt.Fprint(s.out, "   (open the address in a browser; Ctrl-C ends the demo)\n\n")
	if err := s.run(ctx, append(args, "--listen", "127.0.0.1:0"), s.out); err != nil && ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}
