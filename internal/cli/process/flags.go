package process

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// choiceFlag is a flag that takes one of a few words.
type choiceFlag struct {
	value   *string
	allowed []string
}

func (c choiceFlag) String() string { return *c.value }
func (c choiceFlag) Type() string   { return strings.Join(c.allowed, "|") }

func (c choiceFlag) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be %s", strings.Join(c.allowed, " or "))
	}
	*c.value = s
	return nil
}

// ChoiceVar gives a command a flag that takes one of a few words.
func ChoiceVar(cmd *cobra.Command, value *string, name, shorthand, usage string, allowed ...string) {
	cmd.Flags().VarP(choiceFlag{value, allowed}, name, shorthand, usage)
	// It fails only where the flag does not exist, or has completions already.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

const (
	asTable = "table"
	asJSON  = "json"
	asCSV   = "csv"
	asNone  = "none"
)

// OutputFlag gives a command the flag that chooses between text and JSON.
func (s *Session) OutputFlag(cmd *cobra.Command) {
	s.output = asTable
	ChoiceVar(cmd, &s.output, "output", "o", "print a table for people, or JSON for programs", asTable, asJSON)
}

// OutputFlagCSV is OutputFlag for a command that can print CSV, too.
func (s *Session) OutputFlagCSV(cmd *cobra.Command) {
	s.output = asTable
	ChoiceVar(cmd, &s.output, "output", "o", "print a table for people, or JSON or CSV for programs", asTable, asJSON, asCSV)
}

// CSV reports whether the command is to print CSV.
func (s *Session) CSV() bool { return s.output == asCSV }

// OutputOrNoneFlag is OutputFlag, with the choice of printing nothing.
func (s *Session) OutputOrNoneFlag(cmd *cobra.Command) {
	s.output = asTable
	ChoiceVar(cmd, &s.output, "output", "o", "print a table for people, JSON for programs, or nothing, where logs tell", asTable, asJSON, asNone)
}

// Mute reports whether the command is to print nothing.
func (s *Session) Mute() bool { return s.output == asNone }

// JSON reports whether the command is to print JSON.
func (s *Session) JSON() bool { return s.output == asJSON }

// Exclusive makes a command refuse two flags together, and say why. Where one is
// given, completion does not offer the other.
func Exclusive(cmd *cobra.Command, one, other, why string) {
	cmd.MarkFlagsMutuallyExclusive(one, other)
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error { // before cobra's own error
		if f := cmd.Flags(); f.Changed(one) && f.Changed(other) {
			return Usagef("--%s and --%s exclude each other: %s. Leave one of them out", one, other, why)
		}
		if before != nil {
			return before(cmd, args)
		}
		return nil
	}
}

// durationFlag is a flag that takes a length of time, as attributes of pools and
// budgets do: "90s", "1h30m", "7d".
type durationFlag struct{ value *time.Duration }

func (d durationFlag) String() string { return d.value.String() }
func (d durationFlag) Type() string   { return "duration" }

func (d durationFlag) Set(s string) (err error) {
	*d.value, err = duration.Parse(s)
	return err
}

// DurationVar gives a command a flag that takes a length of time.
func DurationVar(cmd *cobra.Command, value *time.Duration, name string, initial time.Duration, usage string) {
	*value = initial
	cmd.Flags().Var(durationFlag{value}, name, usage)
}
