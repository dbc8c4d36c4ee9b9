// Package cli is the command line of gpupool: the list of its commands, and the
// process that they run in.
//
// Each command is a folder: options that its flags fill, New, which only defines
// the flags, and a run function. To add one, make its folder, and name it in
// newRoot. Commands import none of each other; what they share is in
//
//	process   arguments, streams, logs, signals, exit codes
//	connect   the store, the cluster and the cloud that flags name, and the world
//	describe  how pools, budgets and decisions read to people
//	terminal  colours, columns, width, progress
//
// None of them keeps state in the package. Data goes to standard output, everything
// else to standard error. What pools and budgets need done is not decided here, but
// in package reconcile.
package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/adopt"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/explain"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/export"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/grant"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/hold"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/noticewatch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/offers"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/release"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/simulate"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/status"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/wait"
)

// Run runs the command that the process's arguments name, and returns the exit
// code.
func Run(p Process) int { return process.Run(p, newRoot) }

const rootHelp = `gpupool keeps pools of GPU spot instances at the size that Terraform declares, and
GPU-hours of a Kubernetes cluster's pods within the budgets that it declares.

Terraform declares them (provider gpupool/gpupool) and writes them into a store;
gpupool reconcile, run by cron or a CI job, reads the store, brings back what the
cloud has taken away, counts GPU-hours, and enforces budgets. Both decide by the
same rules.

The same program is the Terraform provider: Terraform starts it by itself.`

const rootExamples = `  # What is declared, and what is there
  gpupool status

  # What a run would do, and then the run, as cron does it
  gpupool reconcile --dry-run
  gpupool reconcile

  # A local CVM to try everything without an account
  gpupool simulate`

// Root returns all commands, for pages and checks about them; they do not run.
func Root() *cobra.Command {
	return newRoot(&process.Session{Process: Process{Getenv: func(string) string { return "" }}})
}

// newRoot is the command gpupool, with all the others.
func newRoot(s *process.Session) *cobra.Command {
	root := &cobra.Command{
		Use:               "gpupool",
		Short:             "Keeps GPU spot pools and GPU-hour budgets as they are declared",
		Long:              rootHelp + "\n\n" + process.ExitCodesHelp,
		Example:           rootExamples,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           s.Build.Version,
	}
	root.SetVersionTemplate(versionText(s.Build))
	root.SetHelpCommand(newHelp(root))
	s.QuietFlag(root)
	root.AddCommand(
		reconcile.New(s), status.New(s), explain.New(s), usage.New(s), history.New(s), export.New(s), offers.New(s), adopt.New(s), wait.New(s),
		grant.New(s), hold.New(s), release.New(s),
		store.New(s), manifests.New(s), noticewatch.New(s), simulate.New(s), newVersion(s), newCompletion(s),
	)
	return root
}

// newHelp is cobra's help command, except that an unknown topic is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say how a command is used",
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
				err = fmt.Errorf("there is no command %q", strings.Join(args, " "))
			}
			if err != nil {
				return err
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}
