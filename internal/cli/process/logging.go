package process

import (
	"log/slog"

	"github.com/spf13/cobra"
)

const (
	logText = "text"
	logJSON = "json"
)

// LogFlags say what is logged. Logs go to standard error.
type LogFlags struct {
	verbosity int
	format    string // empty: not chosen
}

func (o *LogFlags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.CountVarP(&o.verbosity, "verbose", "v", "log what is done; twice (-vv): each call of the cloud and of the cluster, too")
	ChoiceVar(cmd, &o.format, "log-format", "", "log as text or json, errors and progress included", logText, logJSON)
}

// chosen reports whether logs were asked for. Where they were not, people get
// progress and a report.
func (o *LogFlags) chosen() bool { return o.verbosity > 0 || o.format != "" }

// Logger never gets a secret to log: what is logged are decisions, and the names
// and outcomes of calls, never their bodies.
func (o *LogFlags) Logger(p Process) *slog.Logger {
	if !o.chosen() {
		return slog.New(slog.DiscardHandler)
	}
	level := slog.LevelInfo
	if o.verbosity > 1 {
		level = slog.LevelDebug
	}
	settings := &slog.HandlerOptions{Level: level}
	if o.format == logJSON {
		return slog.New(slog.NewJSONHandler(p.Stderr, settings))
	}
	return slog.New(slog.NewTextHandler(p.Stderr, settings))
}
