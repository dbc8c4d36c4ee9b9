package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value   *string
	allowed []string
}

func (c choice) String() string { return *c.value }
func (c choice) Type() string   { return strings.Join(c.allowed, "|") }

func (c choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be %s", strings.Join(c.allowed, " or "))
	}
	*c.value = s
	return nil
}

func choiceVar(cmd *cobra.Command, value *string, name, shorthand, usage string, allowed ...string) {
	cmd.Flags().VarP(choice{value, allowed}, name, shorthand, usage)
	// The error is for flags that are not there or are completed already.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

const (
	asTable = "table"
	asJSON  = "json"
)

func outputVar(cmd *cobra.Command, value *string) {
	*value = asTable
	choiceVar(cmd, value, "output", "o", "print a table for people, or JSON for programs", asTable, asJSON)
}
