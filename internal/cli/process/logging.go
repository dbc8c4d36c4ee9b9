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

// logFlags say what is logged. Logs go to standard error.
type logFlags struct {
	verbosity int
	format    string // empty: not chosen
	quiet     bool   // errors alone
}

// LogFlags gives a command the flags that say what is logged.
func (s *Session) LogFlags(cmd *cobra.Command) {
	cmd.Flags().CountVarP(&s.log.verbosity, "verbose", "v", "log what is done; twice (-vv): each call of the cloud and of the cluster, too")
	ChoiceVar(cmd, &s.log.format, "log-format", "", "log as text or json, errors, warnings and progress included", logText, logJSON)
}

// QuietFlag gives a command and those below it the flag that leaves only errors on
// standard error.
func (s *Session) QuietFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().BoolVarP(&s.log.quiet, "quiet", "q", false, "print no progress, no warnings and no logs: data and errors alone")
}

// validate refuses what asks for logs and for none.
func (f logFlags) validate() error {
	if f.quiet && f.verbosity > 0 {
		return Usagef("--quiet and --verbose (-v) exclude each other: one asks for no logs, the other for more. Leave one of them out")
	}
	return nil
}

// chosen reports whether logs were asked for. Else people get progress and a report.
func (f logFlags) chosen() bool { return f.verbosity > 0 || f.format != "" }

// LogsJSON reports whether logs are for programs.
func (s *Session) LogsJSON() bool { return s.log.format == logJSON }

// Logger is the command's log. No secret gets there: decisions are logged, and the
// names and outcomes of calls, but no call's body.
func (s *Session) Logger() *slog.Logger {
	if !s.log.chosen() {
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
		settings.ReplaceAttr = inUTC
		return slog.New(ofRuns{slog.NewJSONHandler(s.Stderr, settings)})
	}
	return slog.New(ofRuns{slog.NewTextHandler(s.Stderr, settings)})
}

// inUTC has programs read times in UTC, wherever the process is.
func inUTC(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	}
	return a
}

// ofRuns is a handler that has records say of which run they are.
type ofRuns struct{ slog.Handler }

// Handle implements slog.Handler.
func (h ofRuns) Handle(ctx context.Context, r slog.Record) error {
	if id := outcome.RunID(ctx); id != "" {
		r.AddAttrs(slog.String("run_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h ofRuns) WithAttrs(attrs []slog.Attr) slog.Handler { return ofRuns{h.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (h ofRuns) WithGroup(name string) slog.Handler { return ofRuns{h.Handler.WithGroup(name)} }
