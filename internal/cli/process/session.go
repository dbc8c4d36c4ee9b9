package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// Session is one run of one command.
type Session struct {
	Process
	log     logFlags
	output  string // what --output says
	running bool   // the arguments were understood, and the command runs
}

// Run runs the command that the process's arguments name, and returns the exit
// code. newRoot makes the command that has all the others.
func Run(p Process, newRoot func(*Session) *cobra.Command) int {
	p = p.withoutSteering()
	ctx, stop := p.interruptible(context.Background())
	defer stop()
	s := &Session{Process: p}
	root := newRoot(s)
	root.SetArgs(append([]string{}, p.Args...))
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return s.finish(ctx, cmd, err)
}

// finish says what went wrong, and returns the exit code.
func (s *Session) finish(ctx context.Context, cmd *cobra.Command, err error) int {
	if err != nil && !s.running {
		err = &usageError{err} // everything that cobra itself finds wrong
	}
	if signal := Interrupted(ctx); signal != nil && errors.Is(err, context.Canceled) {
		err = signal
	}
	code := ExitCode(err)
	if err == nil || Silent(err) {
		return code
	}
	s.complain(err, code)
	if code == exitUsage && !s.LogsJSON() {
		fmt.Fprintf(s.Stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return code
}

// Command makes a RunE for cobra of a function. Its errors are not mistakes in flags
// and arguments, as cobra's own are.
func (s *Session) Command(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s.running = true
		if err := s.log.validate(); err != nil {
			return err
		}
		return do(cmd.Context(), args)
	}
}

// Complain writes an error to standard error.
func (s *Session) Complain(err error) { s.complain(err, ExitFailed) }

func (s *Session) complain(err error, code int) {
	if s.LogsJSON() {
		attrs := append([]slog.Attr{slog.Int("exit_code", code)}, outcome.NewErrorReport(err).Attrs()...)
		s.Logger().LogAttrs(context.Background(), slog.LevelError, "failed", attrs...)
		return
	}
	fmt.Fprintf(s.Stderr, "gpupool: %s\n", s.Clock().Text(strings.TrimRight(err.Error(), "\n")))
}

// Warn writes warnings to standard error.
func (s *Session) Warn(texts ...string) { s.WarnOf(context.Background(), texts...) }

// WarnOf is Warn, of a run that the context names.
func (s *Session) WarnOf(ctx context.Context, texts ...string) {
	if s.log.quiet {
		return
	}
	for _, text := range texts {
		if s.LogsJSON() {
			s.Logger().WarnContext(ctx, "warning", "detail", text)
			continue
		}
		fmt.Fprintf(s.Stderr, "gpupool: warning: %s\n", s.Clock().Text(text))
	}
}

// Print writes a report: as JSON where --output asks for it, and else by text, for
// people.
func (s *Session) Print(report any, text func(terminal.Style) string) error {
	if s.JSON() {
		return s.PutJSON(report, true)
	}
	return s.Put(text(s.Style()))
}

// Input opens a file, or standard input for "-", and says what to call it.
func (s *Session) Input(file string) (stream io.ReadCloser, name string, err error) {
	if file == "-" {
		return io.NopCloser(s.Stdin), "standard input", nil
	}
	stream, err = os.Open(file)
	return stream, file, err
}

// Clock writes moments for the people who read what is printed.
func (s *Session) Clock() terminal.Clock { return terminal.Clock{Now: s.Now(), Zone: s.Zone} }

// Style is how standard output may be written to.
func (s *Session) Style() terminal.Style { return s.styleOf(s.Stdout) }

// Put writes to standard output, in one write.
func (s *Session) Put(text string) error { return PutTo(s.Stdout, text) }

// PutJSON writes a value: indented where it is the only one, else on a line of its
// own.
func (s *Session) PutJSON(value any, alone bool) error {
	data, err := json.Marshal(value)
	if alone && err == nil {
		data, err = json.MarshalIndent(value, "", "  ")
	}
	if err != nil {
		return err
	}
	return s.Put(string(data) + "\n")
}

// PutTo writes to a stream that is standard output, or stands for it.
func PutTo(stream io.Writer, text string) error {
	_, err := io.WriteString(stream, text)
	if err == nil || errors.Is(err, ErrReaderGone) {
		return err
	}
	return fmt.Errorf("cannot write to standard output: %w", err)
}

// ErrReaderGone says that nobody reads standard output any more.
var ErrReaderGone error = syscall.EPIPE

// StartProgress shows the progress of the command, unless logs were asked for, which
// tell it, or nothing but errors.
func (s *Session) StartProgress() *terminal.Progress {
	return terminal.StartProgress(s.Stderr, s.styleOf(s.Stderr), s.Now, !s.log.chosen() && !s.log.quiet)
}

// OnInterrupt says on standard error what a first signal leads to.
func (s *Session) OnInterrupt(ctx context.Context, what string) (stop func()) {
	switch {
	case s.log.quiet:
		return func() {}
	case !s.LogsJSON():
		return s.Process.OnInterrupt(ctx, what)
	}
	stopped := context.AfterFunc(ctx, func() {
		if signal := Interrupted(ctx); signal != nil {
			s.Logger().Info("stopping", "detail", signal.Error()+"; "+what)
		}
	})
	return func() { stopped() }
}
