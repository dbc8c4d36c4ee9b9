// Package usage is the command gpupool usage.
package usage

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
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
		Short:   "Show the GPU-hours that pods used",
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
	process.Exclusive(cmd, "window", "period", "a window slides, a period is a part of the calendar")
	s.LogFlags(cmd)
	s.OutputFlag(cmd, process.Wide, process.CSV)
	return cmd
}

// askFlags registers the flags that select pods and time.
func (o *options) askFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.pods, "pods", "", "`FILE` with the output of kubectl get pods -A -o json; - is standard input.")
	f.StringVar(&o.nodes, "nodes", "", "`FILE` with the output of kubectl get nodes -o json, with --pods.")
	f.StringArrayVarP(&o.namespaces, "namespace", "n", nil, "Only pods in this `NAMESPACE`; can be repeated.")
	f.StringVarP(&o.selector, "selector", "l", "", "Only pods that match this label `SELECTOR`, such as 'team=a,tier in (x,y),!debug'.")
	f.StringVar(&o.at, "at", "", "Usage at this `TIME` (RFC 3339) instead of now.")
	f.StringVar(&o.window, "window", "24h", "`DURATION` of the window, such as 90m, 24h or 7d. A budget has its own.")
	process.ChoiceVar(cmd, &o.period, "period", "", "Count from the start of this calendar period instead.",
		string(budget.Day), string(budget.Week), string(budget.Month), string(budget.Quarter))
	f.StringVar(&o.timeZone, "time-zone", "", "Time `ZONE` of --period, such as Europe/Berlin. If omitted, that of the budget, or UTC.")
	f.StringVar(&o.gpuHours, "gpu-hours", "", "`LIMIT` to compare with, with up to three decimals. A budget has its own.")
	o.countFrom = string(budget.FromScheduled)
	process.ChoiceVar(cmd, &o.countFrom, "count-from", "", "Start of the usage of a pod.",
		string(budget.FromScheduled), string(budget.FromRunning))
	f.StringArrayVar(&o.weights, "weight", nil, "Weight of a resource, as `RESOURCE=GPUS`, such as nvidia.com/mig-1g.5gb=1/7; can be repeated.")
	f.BoolVar(&o.replay, "replay", false, "Apply the limit to the whole ledger, and show when it would have been exceeded.")
	for _, flag := range []string{"pods", "nodes"} {
		_ = cmd.MarkFlagFilename(flag, "json")
	}
}

// listFlags registers the flags about output.
func (o *options) listFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.by, "by", usage.ByPod, "Group by this `FIELD`: pod, namespace, owner or label:KEY.")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{usage.ByPod, usage.ByNamespace, usage.ByOwner, usage.ByLabel},
		cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	f.IntVar(&o.top, "top", 0, "List only the first `N`. Totals still include all.")
	process.ChoiceVar(cmd, &o.sort, "sort", "", "Order of the list. If omitted, gpu-hours; for pods without --top, name.", usage.SortHours, usage.SortName,
		usage.SortStart)
	f.BoolVar(&o.exitCode, "exit-code", false, "Exit with 2 if the limit is exceeded.")
}

func (o *options) run(ctx context.Context, budgets []string) error {
	if o.given("time-zone") && o.period == "" {
		return process.Usagef("--time-zone needs --period: it is the time zone of a calendar period")
	}
	if o.replay {
		return o.replayed(ctx, trimmed(budgets))
	}
	if o.given("pods") {
		return o.offline(ctx, budgets)
	}
	return o.live(ctx, trimmed(budgets))
}

// trimmed removes the kind from names of budgets.
func trimmed(names []string) []string {
	trimmed := make([]string, len(names))
	for n, name := range names {
		trimmed[n] = strings.TrimPrefix(name, "budget/")
	}
	return trimmed
}

// verdict is the exit code with --exit-code.
func (o *options) verdict(exceeded bool) error {
	if o.exitCode && exceeded {
		return process.WithExitCode(process.ExitTrouble, nil)
	}
	return nil
}
