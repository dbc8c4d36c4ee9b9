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

func ChoiceVar(cmd *cobra.Command, value *string, name, shorthand, usage string, allowed ...string) {
	cmd.Flags().VarP(choiceFlag{value, allowed}, name, shorthand, usage)
	// The error is for flags that are not there or are completed already.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

const (
	AsTable = "table"
	AsJSON  = "json"
)

func OutputVar(cmd *cobra.Command, value *string) {
	*value = AsTable
	ChoiceVar(cmd, value, "output", "o", "print a table for people, or JSON for programs", AsTable, AsJSON)
}

// durationFlag is a flag that takes a length of time, as attributes of pools and
// budgets do: "90s", "1h30m", "7d".
type durationFlag struct{ value *time.Duration }

func (l durationFlag) String() string { return l.value.String() }

func (l durationFlag) Type() string { return "duration" }

func (l durationFlag) Set(s string) (err error) {
	*l.value, err = duration.Parse(s)
	return err
}

func DurationVar(cmd *cobra.Command, value *time.Duration, name string, initial time.Duration, usage string) {
	*value = initial
	cmd.Flags().Var(durationFlag{value}, name, usage)
}
