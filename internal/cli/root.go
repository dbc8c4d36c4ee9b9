// Package cli is the command line of gpupool: its commands, and the process that
// they run in.
//
// Each command is a folder with options that its flags fill, New, which only defines
// the flags, and a run function. To add one, make its folder and add it to newRoot.
// Commands do not import each other; they share
//
//	process   arguments, streams, logs, signals, exit codes
//	connect   the store, the cluster and the account that flags name
//	describe  pools, budgets and decisions as text
//	loop      runs that repeat
//	terminal  colors, columns, width, progress
//
// None of them keeps state in the package. Data goes to standard output, everything
// else to standard error. Package reconcile decides what to do; this package does not.
package cli

import (
	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/adopt"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/declare"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/explain"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/export"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/grant"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/hold"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/noticewatch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/notify"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/offers"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/release"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/report"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/simulate"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/status"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/wait"
)

// Run runs the command that the process's arguments name and returns the exit code.
func Run(p Process) int { return process.Run(p, newRoot) }

const rootHelp = `gpupool keeps Tencent Cloud GPU spot pools at the size that Terraform declares, and
enforces GPU-hour budgets for the pods of a Kubernetes cluster.

Declare spot pools, budgets and stock pools with the Terraform provider
gpupool/gpupool, which writes them to a store. Run "gpupool reconcile" from cron, a
CI job or a CronJob: it reads the store, replaces reclaimed instances, counts
GPU-hours and enforces budgets. An apply and a reconcile run follow the same rules.

This program is also the Terraform provider, which Terraform starts itself.`

const rootExamples = `  # Show declared and existing objects, and what a run would change
  gpupool status

  # Print what a run would do, then do it
  gpupool reconcile --dry-run
  gpupool reconcile

  # Serve a local CVM API, to try gpupool without an account
  gpupool simulate`

// Root returns all commands, for generated pages and checks. They do not run.
func Root() *cobra.Command {
	return newRoot(&process.Session{Process: Process{Getenv: func(string) string { return "" }}})
}

// newRoot makes the command gpupool with all others.
func newRoot(s *process.Session) *cobra.Command {
	root := &cobra.Command{
		Use:               "gpupool",
		Short:             "Keep GPU spot pools at size and enforce GPU-hour budgets",
		Long:              rootHelp + "\n\n" + process.ExitCodesHelp,
		Example:           rootExamples,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           s.Build.Version,
	}
	root.SetVersionTemplate(versionText(s.Build))
	root.SetHelpCommand(newHelp(root))
	root.SetHelpFunc(printHelp)
	root.Flags().Bool("version", false, "Print the version.")
	root.PersistentFlags().BoolP("help", "h", false, "Print help.")
	s.QuietFlag(root)
	addGroup(root, "inspect", "Inspect",
		status.New(s), explain.New(s), usage.New(s), history.New(s), report.New(s, pageWords{}), offers.New(s), wait.New(s), jobs.New(s), export.New(s))
	addGroup(root, "operate", "Operate", reconcile.New(s), serve.New(s, pageWords{}), declare.New(s), request.New(s), grant.New(s), hold.New(s), release.New(s),
		adopt.New(s), notify.New(s))
	addGroup(root, "setup", "Set up", manifests.New(s), noticewatch.New(s), store.New(s), simulate.New(s), newCompletion(s))
	root.AddCommand(newVersion(s))
	return root
}
