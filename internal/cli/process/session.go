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
	output  string // --output
	running bool   // the arguments are valid, and the command runs
}

// Run runs the command of the arguments and returns the exit code. newRoot makes the root
// command.
func Run(p Process, newRoot func(*Session) *cobra.Command) int {
	p = p.escapeControls()
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

// finish prints the error and returns the exit code.
func (s *Session) finish(ctx context.Context, cmd *cobra.Command, err error) int {
	if err != nil && !s.running {
		err = &usageError{err} // an error of cobra
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

// Command makes a RunE for cobra. Errors of the function are not wrong usage, unlike those
// of cobra.
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
	s.message(strings.TrimRight(err.Error(), "\n"))
}

// Warn writes warnings to standard error.
func (s *Session) Warn(texts ...string) { s.WarnOf(context.Background(), texts...) }

// WarnOf is Warn with the run of the context.
func (s *Session) WarnOf(ctx context.Context, texts ...string) {
	if s.log.quiet {
		return
	}
	for _, text := range texts {
		if s.LogsJSON() {
			s.Logger().WarnContext(ctx, "warning", "detail", text)
			continue
		}
		s.message("warning: " + text)
	}
}

// Note prints a note on standard error if that is a terminal.
func (s *Session) Note(text string) {
	if style := s.styleOf(s.Stderr); style.IsTerminal() && !s.log.quiet {
		s.message(text)
	}
}

// message writes a text to standard error, wrapped if that is a terminal.
func (s *Session) message(text string) {
	width := s.styleOf(s.Stderr).Width
	var out strings.Builder
	for line := range strings.SplitSeq("gpupool: "+s.Clock().WithZone().Text(text), "\n") {
		fmt.Fprintln(&out, strings.Join(terminal.WrapDetail(line, width), "\n"))
	}
	_, _ = io.WriteString(s.Stderr, out.String()) // nowhere to report it
}

// Print writes a report as JSON or as text.
func (s *Session) Print(report any, text func(terminal.Style) string) error {
	if s.JSON() {
		return s.PutJSON(report, true)
	}
	return s.Put(text(s.Style()))
}

// Input opens a file, or standard input for "-", and returns its name for errors.
func (s *Session) Input(file string) (stream io.ReadCloser, name string, err error) {
	if file == "-" {
		return io.NopCloser(s.Stdin), "standard input", nil
	}
	stream, err = os.Open(file)
	return stream, file, err
}

// Clock formats times for output.
func (s *Session) Clock() terminal.Clock { return terminal.Clock{Now: s.Now(), Zone: s.Zone} }

// Style is the style of standard output. Wide output has no width.
func (s *Session) Style() terminal.Style {
	style := s.styleOf(s.Stdout)
	if s.output == Wide {
		style.Width = 0
	}
	return style
}

// Put writes to standard output, in one write.
func (s *Session) Put(text string) error { return PutTo(s.Stdout, text) }

// PutJSON writes a value: indented if it is the only one, otherwise on one line.
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

// PutTo writes to standard output or a stream in its place.
func PutTo(stream io.Writer, text string) error {
	_, err := io.WriteString(stream, text)
	if err == nil || errors.Is(err, ErrReaderGone) {
		return err
	}
	return fmt.Errorf("cannot write to standard output: %w", err)
}

// ErrReaderGone is the error of a closed pipe at standard output.
var ErrReaderGone error = syscall.EPIPE

// StartProgress shows the progress of the command, unless there are logs or --quiet.
func (s *Session) StartProgress() *terminal.Progress {
	return terminal.StartProgress(s.Stderr, s.styleOf(s.Stderr), s.Now, !s.log.enabled() && !s.log.quiet)
}

// OnInterrupt prints what happens after a first signal.
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
