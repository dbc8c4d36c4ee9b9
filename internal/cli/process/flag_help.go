package process

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

// flagGroup is the annotation with the title under which help lists a flag.
const flagGroup = "gpupool/group"

// AddFlags gives a command a group of flags, which help lists under a title.
func AddFlags(cmd *cobra.Command, title string, group *pflag.FlagSet) {
	group.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[flagGroup] = []string{title}
	})
	cmd.Flags().AddFlagSet(group)
}

// FlagGroup is the title under which help lists a flag; empty for a command's own flags.
func FlagGroup(f *pflag.Flag) string { return strings.Join(f.Annotations[flagGroup], "") }

// flagColumn is the column at which descriptions of flags begin.
const flagColumn = 28

// FlagHelp describes the flags of a group, within a width. A flag that is too long for its
// column has its description below it.
func FlagHelp(flags *pflag.FlagSet, group string, width int) string {
	var out strings.Builder
	hang := strings.Repeat(" ", flagColumn)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || FlagGroup(f) != group {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		if value != "" && f.Value.Type() != "count" {
			name += " " + value
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			usage += " Default: " + f.DefValue + "."
		}
		lines := terminal.Wrap(usage, width-flagColumn, "")
		if len(name)+2 > flagColumn {
			lines = append([]string{name}, lines...)
		} else {
			lines[0] = name + hang[len(name):] + lines[0]
		}
		for n, line := range lines {
			if n > 0 {
				line = hang + line
			}
			fmt.Fprintln(&out, line)
		}
	})
	return out.String()
}
