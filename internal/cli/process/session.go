package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

// Session is one run of one command.
type Session struct {
	Process
	Log     LogFlags
	running bool // the arguments were understood, and the command was started
}

// Finish says what went wrong, and returns the exit code.
func (s *Session) Finish(ctx context.Context, cmd *cobra.Command, err error) int {
	if err != nil && !s.running {
		err = &usageError{err} // all that cobra itself finds wrong
	}
	if signal := Interrupted(ctx); signal != nil && errors.Is(err, context.Canceled) {
		err = signal
	}
	code := ExitCode(err)
	if err == nil || Silent(err) {
		return code
	}
	s.Complain(err)
	if code == exitUsage {
		fmt.Fprintf(s.Stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return code
}

// Complain puts an error on standard error.
func (s *Session) Complain(err error) {
	if s.Log.format == logJSON {
		s.Log.Logger(s.Process).Error(err.Error())
		return
	}
	fmt.Fprintf(s.Stderr, "gpupool: %s\n", strings.TrimRight(err.Error(), "\n"))
}

// Warn puts a doubt on standard error.
func (s *Session) Warn(text string) {
	if s.Log.format == logJSON {
		s.Log.Logger(s.Process).Warn(text)
		return
	}
	fmt.Fprintf(s.Stderr, "gpupool: warning: %s\n", text)
}

// Run makes a run function one that cobra calls. What the function returns is
// not for cobra's own handling of wrong usage.
func (s *Session) Run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s.running = true
		return do(cmd.Context(), args)
	}
}

// Put writes to standard output, in one write.
func (s *Session) Put(data []byte) error { return Put(s.Stdout, data) }

// PutJSON writes a value: indented where it stands alone, else on a line of its
// own, as one of several.
func (s *Session) PutJSON(value any, alone bool) error {
	data, err := json.Marshal(value)
	if alone && err == nil {
		data, err = json.MarshalIndent(value, "", "  ")
	}
	if err != nil {
		return err
	}
	return s.Put(append(data, '\n'))
}

func Put(stream io.Writer, data []byte) error {
	_, err := stream.Write(data)
	if err == nil || errors.Is(err, ErrReaderGone) {
		return err
	}
	return fmt.Errorf("cannot write to standard output: %w", err)
}

// ErrReaderGone says that nobody reads standard output any more.
var ErrReaderGone error = syscall.EPIPE

// StartProgress shows how the command gets on, or logs it where logs were asked for.
func (s *Session) StartProgress() *terminal.Progress {
	var log *slog.Logger
	if s.Log.chosen() {
		log = s.Log.Logger(s.Process)
	}
	return terminal.StartProgress(s.Stderr, s.StyleOf(s.Stderr), s.Now, log)
}
