package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Run runs the command that the process's arguments name, and returns the exit
// code.
func Run(p Process) int {
	p = p.guarded()
	ctx, stop := p.interruptible(context.Background())
	defer stop()
	s := &session{Process: p}
	root := newRoot(s)
	root.SetArgs(append([]string{}, p.Args...))
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return s.finish(ctx, cmd, err)
}

// session is one run of one command.
type session struct {
	Process
	log     logOptions
	running bool // the arguments were understood, and the command was started
}

// finish says what went wrong, and returns the exit code.
func (s *session) finish(ctx context.Context, cmd *cobra.Command, err error) int {
	if err != nil && !s.running {
		err = &usageError{err} // all that cobra itself finds wrong
	}
	if signal := interrupted(ctx); signal != nil && errors.Is(err, context.Canceled) {
		err = signal
	}
	code := exitCode(err)
	if err == nil || silent(err) {
		return code
	}
	s.complain(err)
	if code == exitUsage {
		fmt.Fprintf(s.Stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return code
}

// complain puts an error on standard error.
func (s *session) complain(err error) {
	if s.log.format == logJSON {
		s.log.logger(s.Process).Error(err.Error())
		return
	}
	fmt.Fprintf(s.Stderr, "gpupool: %s\n", strings.TrimRight(err.Error(), "\n"))
}

// warn puts a doubt on standard error.
func (s *session) warn(text string) {
	if s.log.format == logJSON {
		s.log.logger(s.Process).Warn(text)
		return
	}
	fmt.Fprintf(s.Stderr, "gpupool: warning: %s\n", text)
}

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

const exitCodesHelp = `Exit codes: 0 done; 1 failed; 2 changes, with --detailed-exitcode alone; 3 some
declarations failed and the rest was done; 11 another run is under way; 64 wrong
usage; 130 and 143 stopped by SIGINT or SIGTERM.`

func newRoot(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:               "gpupool",
		Short:             "Keeps GPU spot pools and GPU-hour budgets as they are declared",
		Long:              rootHelp + "\n\n" + exitCodesHelp,
		Example:           rootExamples,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           s.Build.Version,
	}
	root.SetVersionTemplate(versionText(s.Build))
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		newReconcile(s), newStatus(s), newUsage(s), newOffers(s), newAdopt(s), newManifests(s), newSimulate(s),
		newVersion(s), newCompletion(s),
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

// run makes a run function one that cobra calls. What the function returns is
// not for cobra's own handling of wrong usage.
func (s *session) run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s.running = true
		return do(cmd.Context(), args)
	}
}
