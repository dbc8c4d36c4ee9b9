package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

// addGroup adds commands to the root, under a title.
func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}

// newHelp is cobra's help command, except that an unknown topic is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print help for a command",
		Example: "  gpupool help reconcile",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range root.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q", strings.Join(args, " "))
			}
			if err != nil {
				return err
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// helpWidth is the width of help in columns, on a terminal and elsewhere.
const helpWidth = 80

// printHelp prints the help of a command.
func printHelp(c *cobra.Command, _ []string) {
	_, _ = io.WriteString(c.OutOrStdout(), helpText(c)) // cobra has no way to return the error
}

func helpText(c *cobra.Command) string {
	var out strings.Builder
	section := func(title, body string) {
		if body = strings.TrimRight(body, "\n"); body != "" {
			fmt.Fprintf(&out, "\n%s:\n%s\n", title, body)
		}
	}
	for _, line := range paragraphs(cmp.Or(c.Long, c.Short)) {
		hang := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " ")))
		fmt.Fprintln(&out, strings.Join(terminal.Wrap(line, helpWidth, hang), "\n"))
	}
	section("Usage", usageLines(c))
	section("Examples", c.Example)
	for _, g := range c.Groups() {
		section(g.Title, commandList(c, g.ID))
	}
	other := "Commands"
	if len(c.Groups()) > 0 {
		other = "Other commands"
	}
	section(other, commandList(c, ""))
	for _, title := range flagTitles(c.LocalFlags()) {
		section(cmp.Or(title, "Flags"), process.FlagHelp(c.LocalFlags(), title, helpWidth))
	}
	section("Global flags", process.FlagHelp(c.InheritedFlags(), "", helpWidth))
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "\nRun '%s COMMAND --help' for help on a command.\n", c.CommandPath())
	}
	return out.String()
}

// paragraphs returns the lines of a text, with each paragraph in one line. Indented lines and list
// items keep lines of their own.
func paragraphs(text string) []string {
	var joined []string
	open := false // whether the next line may belong to the last one
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		prose := line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "- ")
		if prose && open {
			joined[len(joined)-1] += " " + line
			continue
		}
		joined, open = append(joined, line), prose
	}
	return joined
}

func usageLines(c *cobra.Command) string {
	if c.HasAvailableSubCommands() {
		return "  " + c.CommandPath() + " COMMAND [flags]"
	}
	return strings.Join(terminal.Wrap("  "+c.UseLine(), helpWidth, "    "), "\n")
}

// commandList lists the commands of a group; the empty group is the rest.
func commandList(c *cobra.Command, group string) string {
	var out strings.Builder
	for _, below := range c.Commands() {
		if below.GroupID == group && below.IsAvailableCommand() {
			fmt.Fprintf(&out, "  %-*s %s\n", below.NamePadding(), below.Name(), below.Short)
		}
	}
	return out.String()
}

// flagTitles are the titles of the groups of flags: those of the command, then the others.
func flagTitles(flags *pflag.FlagSet) []string {
	titles := []string{""}
	flags.VisitAll(func(f *pflag.Flag) {
		if title := process.FlagGroup(f); !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	})
	return titles
}
