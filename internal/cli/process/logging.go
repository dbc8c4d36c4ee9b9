package process

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

const (
	logText = "text"
	logJSON = "json"
)

// logFlags select logs. Logs go to standard error.
type logFlags struct {
	verbosity int
	format    string // empty if not set
	quiet     bool   // only errors
}

// LogFlags gives a command the flags about logs.
func (s *Session) LogFlags(cmd *cobra.Command) {
	cmd.Flags().CountVarP(&s.log.verbosity, "verbose", "v", "Log what is done. Use -vv to log API calls also.")
	ChoiceVar(cmd, &s.log.format, "log-format", "", "Format of logs, errors, warnings and progress.", logText, logJSON)
}

// QuietFlag gives a command and its subcommands the flag for errors only.
func (s *Session) QuietFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().BoolVarP(&s.log.quiet, "quiet", "q", false, "Print only data and errors: no progress, warnings or logs.")
}

// validate refuses contradictory flags.
func (f logFlags) validate() error {
	if f.quiet && f.verbosity > 0 {
		return Usagef("--quiet and --verbose (-v) exclude each other")
	}
	return nil
}

// enabled reports whether logs replace progress.
func (f logFlags) enabled() bool { return f.verbosity > 0 || f.format != "" }

// LogsJSON reports whether logs are JSON.
func (s *Session) LogsJSON() bool { return s.log.format == logJSON }

// Logger is the log of the command: decisions, and names and results of API calls. It
// contains no request bodies, and so no secrets.
func (s *Session) Logger() *slog.Logger {
	if !s.log.enabled() {
		return slog.New(slog.DiscardHandler)
	}
	level := slog.LevelInfo
	switch {
	case s.log.quiet:
		level = slog.LevelError
	case s.log.verbosity > 1:
		level = slog.LevelDebug
	}
	settings := &slog.HandlerOptions{Level: level}
	if s.log.format == logJSON {
		settings.ReplaceAttr = utcTime
		return slog.New(runIDHandler{slog.NewJSONHandler(s.Stderr, settings)})
	}
	return slog.New(runIDHandler{slog.NewTextHandler(s.Stderr, settings)})
}

// utcTime converts times to UTC.
func utcTime(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	}
	return a
}

// runIDHandler is a handler that adds the run ID to records.
type runIDHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h runIDHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := outcome.RunID(ctx); id != "" {
		r.AddAttrs(slog.String("run_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h runIDHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return runIDHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h runIDHandler) WithGroup(name string) slog.Handler {
	return runIDHandler{h.Handler.WithGroup(name)}
}
