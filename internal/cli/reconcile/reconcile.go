// Package reconcile is the command gpupool reconcile.
package reconcile

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const reconcileHelp = `Look at everything that is declared, and bring it where it should be. First count
what budgets have used, tell of the thresholds that were crossed, and enforce their
limits; then launch what a pool lacks to its minimum, terminate what it has above its
maximum, go on with refreshes and deletions; and at last have each stock pool be as
declared, as far as its budgets let it. A run returns once its launches are accepted;
--wait stays until the instances are there.

Any number of runs may be started, beside each other and beside terraform apply:
one run at a time works, and one process at a time works on a pool. A run that is
killed is made good by the next one, without launching anything twice.

NAME is that of a pool (REGION/NAME as well), a stock pool (NAMESPACE/NAME) or a budget,
also with its kind before it (stock_pool/ml/g1), or a glob of these ('team-*'). Then
what is named is seen to, and the others are neither looked at nor changed: a budget
that is not named counts as its last run left it. Pods are counted for all budgets, in
the ledger that is everyone's. What is left to a run of all: forgetting what the ledger need not keep, tombstones, what destroyed budgets left
in force, the time of the last run, and metrics.

A pool that stays short because there is no stock, or only above its price cap,
is no failure: its outcome says short, and the exit code is 0.

With --every, the nodes of pools that have some are watched between the runs: when one
is marked because the cloud takes its instance back (gpupool notice-watch), a run of
that pool alone begins at once.

`

const reconcileExamples = `  # What a run would do
  gpupool reconcile --dry-run

  # A pool, and the budgets of a team, alone
  gpupool reconcile ap-singapore/train 'team-a-*'

  # What would follow from a larger budget
  gpupool reconcile --dry-run --assume budget/team-a.gpu_hours=200

  # A line for cron: every minute, for at most five
  * * * * *  gpupool reconcile --store directory:/var/lib/gpupool --timeout 5m

  # As a service, with metrics for the textfile collector of node_exporter
  gpupool reconcile --every 40s --metrics-file /var/lib/node_exporter/gpupool.prom

  # In a pipeline that has the Terraform state and no store of its own
  terraform show -json | gpupool reconcile --from-state - --wait

  # For a script
  gpupool reconcile -o json | jq '.spot_pools[] | select(.outcome != "done")'`

type options struct {
	session     *process.Session
	cloud       connect.CloudFlags
	store       connect.StoreFlags
	fromState   string
	dryRun      bool
	assume      []string
	assumed     []reconcile.Assumption // what assume says
	wait        bool
	detailed    bool
	every       time.Duration
	timeout     time.Duration
	lockTimeout time.Duration
	keepLedger  time.Duration
	acceptLoss  string
	keepHistory time.Duration
	historySize sizeFlag
	given       func(flag string) bool
	metricsFile string
	names       declaration.Names
	place       string             // where the store is
	progress    *terminal.Progress // of the run under way
	// conflictCode is the exit code where another run is under way.
	conflictCode int
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "reconcile [NAME...]",
		Short:   "Bring every pool and budget where it is declared to be",
		Long:    reconcileHelp + process.ExitCodesHelp,
		Example: reconcileExamples,
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	f := cmd.Flags()
	o.given = f.Changed
	o.store.Register(cmd, s)
	f.StringVar(&o.fromState, "from-state", "", "take declarations from this `FILE` (or - for standard input), too: what terraform show -json or terraform "+
		"state pull prints")
	f.BoolVar(&o.dryRun, "dry-run", false, "decide and report, and change nothing")
	f.StringArrayVar(&o.assume, "assume", nil, "in a dry run, take an attribute to be other than declared, such as budget/team-a.gpu_hours=200, minimum, "+
		"maximum or spot_max_price as in pool/train.minimum=4, or replicas or maximum as in stock_pool/ml/g1.replicas=4; repeat it for several")
	f.BoolVar(&o.wait, "wait", false, "stay until what was launched or changed is there, or --timeout is over")
	process.DurationVar(cmd, &o.every, "every", 0, "run again and again, each so long after the one before began, until stopped")
	process.DurationVar(cmd, &o.timeout, "timeout", 15*time.Minute, "how long a run may take")
	process.DurationVar(cmd, &o.lockTimeout, "lock-timeout", 0, "how long to wait for another run to end before giving up (exit code 11)")
	process.DurationVar(cmd, &o.keepLedger, "keep-ledger", budgets.DefaultKeepLedger,
		"how long the ledger keeps what ended, also where no budget's window reaches back to it")
	process.DurationVar(cmd, &o.keepHistory, "keep-history", history.DefaultRetention.For, "how long the history is kept, which gpupool history shows")
	o.historySize = sizeFlag(history.DefaultRetention.Bytes)
	f.Var(&o.historySize, "history-size", "how large the history may become before its oldest days go")
	f.StringVar(&o.acceptLoss, "accept-loss", "", "go on without what is lost of the ledger by now, for this `REASON`, which is kept: budgets that are "+
		"then below their limits lift what they enforce, and their pools launch (print that first with --dry-run)")
	f.IntVar(&o.conflictCode, "conflict-exit-code", process.ExitRunLocked, "exit with this `CODE` where another run is under way")
	f.BoolVar(&o.detailed, "detailed-exitcode", false, "exit with 2 where something was done or, in a dry run, would be")
	f.StringVar(&o.metricsFile, "metrics-file", "", "write metrics of the run to this `FILE`, in the Prometheus text format")
	_ = cmd.MarkFlagFilename("metrics-file", "prom")
	process.Exclusive(cmd, "dry-run", "wait", "a dry run launches nothing that could be waited for")
	process.Exclusive(cmd, "dry-run", "metrics-file", "the metrics are of what runs did")
	process.Exclusive(cmd, "every", "detailed-exitcode", "of many runs no exit code tells")
	process.Exclusive(cmd, "every", "accept-loss", "what is lost later is nothing that anyone has looked at and accepted")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputOrNoneFlag(cmd)
	return cmd
}

// reasonAtMost is how long a reason that is stored may be.
const reasonAtMost = 500

func (o *options) validate() error {
	if err := o.names.Validate(); err != nil {
		return process.WrongUsage(err)
	}
	switch {
	case o.given("every") && o.every == 0:
		return process.Usagef("--every must be longer than 0, such as 40s: leave it out to run once")
	case len(o.names) > 0 && o.metricsFile != "":
		return process.Usagef("metrics are of all that is declared, and --metrics-file would lose those of what is not named: leave one of them out")
	case len(o.names) > 0 && o.acceptLoss != "":
		return process.Usagef("a loss of the ledger is accepted for all budgets: with --accept-loss, name none")
	case len(o.names) > 0 && o.given("keep-ledger"):
		return process.Usagef("a run of some forgets nothing of the ledger: with --keep-ledger, name none")
	case len(o.assume) > 0 && !o.dryRun:
		return process.Usagef("--assume needs --dry-run: nothing is assumed where anything is done")
	case o.timeout == 0:
		return process.Usagef("--timeout must be longer than 0, such as 5m")
	case o.keepLedger == 0:
		return process.Usagef("--keep-ledger must be longer than 0, such as 35d")
	case o.keepHistory < 24*time.Hour:
		return process.Usagef("--keep-history must be at least a day, such as 35d: the history is kept by days")
	case o.historySize < smallestHistory:
		return process.Usagef("--history-size must be at least %s, such as 64MiB", smallestHistory)
	case o.given("accept-loss") && strings.TrimSpace(o.acceptLoss) == "" || len(o.acceptLoss) > reasonAtMost:
		return process.Usagef("--accept-loss needs a reason of at most %d characters", reasonAtMost)
	case o.conflictCode < 0 || o.conflictCode > 255:
		return process.Usagef("--conflict-exit-code must be from 0 to 255")
	case o.every > 0 && o.fromState == "-":
		return process.Usagef("standard input can be read once only: with --every, name a file in --from-state")
	}
	for _, text := range o.assume {
		a, err := reconcile.ParseAssumption(text)
		if err != nil {
			return process.WrongUsage(err)
		}
		o.assumed = append(o.assumed, a)
	}
	return validateMetricsFile(o.metricsFile)
}
