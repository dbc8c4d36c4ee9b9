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

const reconcileHelp = `Reconcile all declared budgets, pools and stock pools, once:

  1. Count usage of budgets, alert at thresholds, and enforce limits.
  2. Launch instances up to the minimum of each pool, terminate those above the
     maximum, and continue refreshes and deletions.
  3. Update the Deployment of each stock pool, as far as its budgets allow.

A run returns when its launches are accepted; --wait waits for the instances. A pool
that stays short because of stock or price is not a failure: the exit code is 0.

Any number of runs can be started, also during terraform apply. One run works at a
time, and one process works on a pool at a time. If a run is killed, the next one
recovers, and launches nothing twice.

NAME is the name of a pool, a stock pool or a budget. It can include the region, the
namespace or the kind: ap-singapore/train, ml/g1, budget/team-a. A pattern such as
'team-*' selects several.
Only these are then reconciled. Usage is still counted for all budgets. Only a run
without NAME cleans up the ledger and tombstones, removes the enforcement of destroyed
budgets, and writes metrics.

With --every, runs repeat. In between, nodes of pools are watched: an interruption
notice (gpupool notice-watch) starts a run of that pool at once.

`

const reconcileExamples = `  # Print what a run would do
  gpupool reconcile --dry-run

  # Only a pool, and the budgets of a team
  gpupool reconcile ap-singapore/train 'team-a-*'

  # What if the budget was larger?
  gpupool reconcile --dry-run --assume budget/team-a.gpu_hours=200

  # A crontab line: every minute, for at most five
  * * * * *  gpupool reconcile --store directory:/var/lib/gpupool --timeout 5m

  # As a service, with metrics for the node_exporter textfile collector
  gpupool reconcile --every 40s \
    --metrics-file /var/lib/node_exporter/gpupool.prom

  # In a pipeline that has the Terraform state and no store
  terraform show -json | gpupool reconcile --from-state - --wait

  # In a script
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
		Short:   "Reconcile pools, budgets and stock pools once, or repeatedly",
		Long:    reconcileHelp + process.ExitCodesHelp,
		Example: reconcileExamples,
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	f := cmd.Flags()
	o.given = f.Changed
	o.store.Register(cmd, s)
	f.StringVar(&o.fromState, "from-state", "", "Also read declarations from this `FILE`, the output of terraform show -json or terraform state pull; "+
		"- is standard input.")
	f.BoolVar(&o.dryRun, "dry-run", false, "Print what a run would do, and change nothing.")
	f.StringArrayVar(&o.assume, "assume", nil, "With --dry-run: assume another `ATTRIBUTE=VALUE`. Examples: budget/team-a.gpu_hours=200, "+
		"pool/train.minimum=4 (also maximum, spot_max_price) or stock_pool/ml/g1.replicas=4 (also maximum). Can be repeated.")
	f.BoolVar(&o.wait, "wait", false, "Wait for launched and changed instances, until --timeout.")
	process.DurationVar(cmd, &o.every, "every", 0, "Repeat at this interval until interrupted.")
	process.DurationVar(cmd, &o.timeout, "timeout", 15*time.Minute, "Longest duration of a run.")
	process.DurationVar(cmd, &o.lockTimeout, "lock-timeout", 0, "Longest time to wait for another run. Then exit with 11.")
	process.DurationVar(cmd, &o.keepLedger, "keep-ledger", budgets.DefaultKeepLedger,
		"How long the ledger keeps pods that ended, at least.")
	process.DurationVar(cmd, &o.keepHistory, "keep-history", history.DefaultRetention.For, "How long events are kept.")
	o.historySize = sizeFlag(history.DefaultRetention.Bytes)
	f.Var(&o.historySize, "history-size", "Size above which the oldest days of events are deleted.")
	f.StringVar(&o.acceptLoss, "accept-loss", "", "Continue without the lost part of the ledger, and record this `REASON`. Budgets below their limits "+
		"then stop enforcement, and pools launch. Use --dry-run first.")
	f.IntVar(&o.conflictCode, "conflict-exit-code", process.ExitRunLocked, "Exit with this `CODE` if another run is in progress.")
	f.BoolVar(&o.detailed, "detailed-exitcode", false, "Exit with 2 if a run changed something or, with --dry-run, would.")
	f.StringVar(&o.metricsFile, "metrics-file", "", "Write metrics to this `FILE`, in the Prometheus text format.")
	_ = cmd.MarkFlagFilename("metrics-file", "prom")
	process.Exclusive(cmd, "dry-run", "wait", "a dry run launches nothing")
	process.Exclusive(cmd, "dry-run", "metrics-file", "metrics describe what runs did")
	process.Exclusive(cmd, "every", "detailed-exitcode", "--every has no exit code for a run")
	process.Exclusive(cmd, "every", "accept-loss", "it would also accept later losses without review")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd, process.Wide, process.None)
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
		return process.Usagef("--metrics-file needs a run of all objects: omit NAME or --metrics-file")
	case len(o.names) > 0 && o.acceptLoss != "":
		return process.Usagef("a loss of the ledger is accepted for all budgets: with --accept-loss, name none")
	case len(o.names) > 0 && o.given("keep-ledger"):
		return process.Usagef("--keep-ledger needs a run of all objects: omit NAME or --keep-ledger")
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
