package process

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// choiceFlag is a flag with a fixed set of values.
type choiceFlag struct {
	value   *string
	allowed []string
}

func (c choiceFlag) String() string { return *c.value }
func (c choiceFlag) Type() string   { return strings.Join(c.allowed, "|") }

func (c choiceFlag) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be %s", strings.Join(c.allowed, ", "))
	}
	*c.value = s
	return nil
}

// Choice is the value of a flag with a fixed set of values.
func Choice(value *string, allowed ...string) pflag.Value { return choiceFlag{value, allowed} }

// ChoiceVar gives a command a flag with a fixed set of values.
func ChoiceVar(cmd *cobra.Command, value *string, name, shorthand, usage string, allowed ...string) {
	cmd.Flags().VarP(choiceFlag{value, allowed}, name, shorthand, usage)
	// It fails only if the flag does not exist or already has completions.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// Output formats.
const (
	asTable = "table"
	asJSON  = "json"
	Wide    = "wide" // a table with all columns
	Name    = "name" // the names of objects
	CSV     = "csv"
	None    = "none"
)

// OutputFlag gives a command the flag for the output format: a table, JSON, or one of more.
func (s *Session) OutputFlag(cmd *cobra.Command, more ...string) {
	s.output = asTable
	ChoiceVar(cmd, &s.output, "output", "o", "Output format.", append([]string{asTable, asJSON}, more...)...)
}

// JSON reports whether the output format is JSON.
func (s *Session) JSON() bool { return s.output == asJSON }

// Output reports whether the output format is this one.
func (s *Session) Output(format string) bool { return s.output == format }

// Exclusive makes a command refuse two flags together, with the reason.
func Exclusive(cmd *cobra.Command, one, other, why string) {
	cmd.MarkFlagsMutuallyExclusive(one, other)
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error { // before cobra's own error
		if f := cmd.Flags(); f.Changed(one) && f.Changed(other) {
			return Usagef("--%s and --%s exclude each other: %s", one, other, why)
		}
		if before != nil {
			return before(cmd, args)
		}
		return nil
	}
}

// durationFlag is a flag with a duration in the form of attributes: "90s", "1h30m", "7d".
type durationFlag struct{ value *time.Duration }

func (d durationFlag) String() string { return duration.Words(*d.value) }
func (d durationFlag) Type() string   { return "DURATION" }

func (d durationFlag) Set(s string) (err error) {
	*d.value, err = duration.Parse(s)
	return err
}

// DurationVar gives a command a flag with a duration.
func DurationVar(cmd *cobra.Command, value *time.Duration, name string, initial time.Duration, usage string) {
	*value = initial
	cmd.Flags().Var(durationFlag{value}, name, usage)
}

// NoArguments refuses arguments.
var NoArguments = Arguments("")

// AtLeastOne requires an argument with this name, and accepts more.
func AtLeastOne(example, name string) cobra.PositionalArgs {
	one := Arguments(example, name)
	return func(cmd *cobra.Command, args []string) error { return one(cmd, args[:min(1, len(args))]) }
}

// Arguments requires arguments with these names. The error about a missing one has an
// example of the command.
func Arguments(example string, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			missing := names[len(args):]
			be := "is"
			if len(missing) > 1 {
				be = "are"
			}
			return fmt.Errorf("%s %s missing: %s", strings.Join(missing, " and "), be, example)
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
