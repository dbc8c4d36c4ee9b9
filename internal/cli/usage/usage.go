// Package usage is the command gpupool usage.
package usage

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type options struct {
	session    *process.Session
	store      connect.StoreFlags
	pods       string
	nodes      string
	namespaces []string
	selector   string
	at         string
	window     string
	period     string
	timeZone   string
	gpuHours   string
	countFrom  string
	weights    []string
	by         string
	top        int
	sort       string
	replay     bool
	exitCode   bool
	given      func(flag string) bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "usage [BUDGET | --pods FILE]",
		Short:   "GPU-hours that pods used",
		Long:    usageHelp + "\n\n" + weightsHelp(),
		Example: usageExamples,
		Args:    cobra.MaximumNArgs(1),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.Budgets),
	}
	o.store.Register(cmd, s)
	o.given = cmd.Flags().Changed
	o.askFlags(cmd)
	o.listFlags(cmd)
	process.Exclusive(cmd, "window", "period", "a window slides, and a period begins by the calendar")
	s.LogFlags(cmd)
	s.OutputFlagCSV(cmd)
	return cmd
}

// askFlags are those that say what is asked.
func (o *options) askFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.pods, "pods", "", "`FILE` with a list of pods, as kubectl get pods -A -o json prints it; - is standard input")
	f.StringVar(&o.nodes, "nodes", "", "`FILE` with a list of nodes, as kubectl get nodes -o json prints it (with --pods)")
	f.StringArrayVarP(&o.namespaces, "namespace", "n", nil, "pods of this `NAMESPACE` alone; may be repeated")
	f.StringVarP(&o.selector, "selector", "l", "", "pods with these labels alone, by an `EXPRESSION` as kubectl takes it: team=a,tier in (x,y),!debug")
	f.StringVar(&o.at, "at", "", "as of this `TIME` (RFC 3339) instead of now")
	f.StringVar(&o.window, "window", "24h", "count back so `LONG`, such as 90m, 24h or 7d; a budget has its own")
	process.ChoiceVar(cmd, &o.period, "period", "", "count from the beginning of this calendar period instead",
		string(budget.Day), string(budget.Week), string(budget.Month), string(budget.Quarter))
	f.StringVar(&o.timeZone, "time-zone", "", "the `ZONE` of --period, such as Europe/Berlin (the budget's, else UTC)")
	f.StringVar(&o.gpuHours, "gpu-hours", "", "the `LIMIT` to compare with, with at most three digits after the point; a budget has its own")
	o.countFrom = string(budget.FromScheduled)
	process.ChoiceVar(cmd, &o.countFrom, "count-from", "", "from when a pod counts: when it was scheduled, or when its first container started",
		string(budget.FromScheduled), string(budget.FromRunning))
	f.StringArrayVar(&o.weights, "weight", nil, "GPUs a unit, as `RESOURCE=GPUS`, such as nvidia.com/mig-1g.5gb=1/7; may be repeated")
	f.BoolVar(&o.replay, "replay", false, "replay the limit over all that the ledger holds: when it would have been exceeded, and who held GPUs then")
	for _, flag := range []string{"pods", "nodes"} {
		_ = cmd.MarkFlagFilename(flag, "json")
	}
}

// listFlags are those that say how it is told.
func (o *options) listFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.by, "by", byPod, "list `WHAT` used them: pod, namespace, or label:KEY")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{byPod, byNamespace, byLabel},
		cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	f.IntVar(&o.top, "top", 0, "list the first `N` alone; totals are of all")
	process.ChoiceVar(cmd, &o.sort, "sort", "", "the most GPU-hours first, by name, or the earliest start first; of pods without --top by name, "+
		"else by gpu-hours", sortHours, sortName, sortStart)
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with 2 if the limit is exceeded")
}

func (o *options) run(ctx context.Context, budgets []string) error {
	if o.given("time-zone") && o.period == "" {
		return process.Usagef("--time-zone is that of a calendar period: add --period")
	}
	if o.replay {
		return o.replayed(ctx, budgets)
	}
	if o.given("pods") {
		return o.offline(ctx, budgets)
	}
	return o.live(ctx, budgets)
}

// verdict is the exit code that --exit-code asks for.
func (o *options) verdict(exceeded bool) error {
	if o.exitCode && exceeded {
		return process.WithExitCode(process.ExitTrouble, nil)
	}
	return nil
}
