package process

import (
	"log/slog"

	"github.com/spf13/cobra"
)

const (
	logText = "text"
	logJSON = "json"
)

// logFlags say what is logged. Logs go to standard error.
type logFlags struct {
	verbosity int
	format    string // empty: not chosen
}

// LogFlags gives a command the flags that say what is logged.
func (s *Session) LogFlags(cmd *cobra.Command) {
	cmd.Flags().CountVarP(&s.log.verbosity, "verbose", "v", "log what is done; twice (-vv): each call of the cloud and of the cluster, too")
	ChoiceVar(cmd, &s.log.format, "log-format", "", "log as text or json, errors and progress included", logText, logJSON)
}

// chosen reports whether logs were asked for. Else people get progress and a report.
func (f logFlags) chosen() bool { return f.verbosity > 0 || f.format != "" }

// Logger is the command's log. No secret gets there: decisions are logged, and the
// names and outcomes of calls, but no call's body.
func (s *Session) Logger() *slog.Logger {
	if !s.log.chosen() {
		return slog.New(slog.DiscardHandler)
	}
	level := slog.LevelInfo
	if s.log.verbosity > 1 {
		level = slog.LevelDebug
	}
	settings := &slog.HandlerOptions{Level: level}
	if s.log.format == logJSON {
		return slog.New(slog.NewJSONHandler(s.Stderr, settings))
	}
	return slog.New(slog.NewTextHandler(s.Stderr, settings))
}
