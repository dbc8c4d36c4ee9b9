// Package status is the command gpupool status.
package status

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const statusHelp = `Show the state of every declared pool, budget and stock pool, and what a reconcile
run would do now. Nothing is changed or locked.

Pools and stock pools are observed now; budgets are shown as the last run judged
them. Use "gpupool usage" for current usage. Problems come first, with their cause
and a remedy. A long list counts objects that are in sync instead of listing them.

NAME is the name of a pool, a stock pool or a budget. It can include the region, the
namespace or the kind: ap-singapore/train, ml/g1, budget/team-a. A pattern such as
'team-*' selects several.

Columns:
  CAPACITY   instances that work, or that launch and soon will
  TOTAL      all instances of the pool: also stuck, stopped and pending ones
  DRIFTED    instances that were launched with another configuration
  NODES      Ready nodes of all instances of the pool
  DESIRED    pods that the stock pool needs now; none while a budget pauses it
  AVAILABLE  pods of the stock pool that are ready and not in use`

const statusExamples = `  # Everything
  gpupool status

  # One pool with its instances, or all objects of a team
  gpupool status ap-singapore/train --machines
  gpupool status 'team-a*'

  # Repeat until interrupted
  gpupool status -w

  # In a script: 2 if anything is short, failing or exceeded
  gpupool status --exit-code > /dev/null

  # The private addresses of the instances of a pool
  gpupool status train -o json | jq -r '.spot_pools[].machines[].private_ip'`

type options struct {
	session  *process.Session
	cloud    connect.CloudFlags
	store    connect.StoreFlags
	machines bool
	follow   bool
	trouble  bool // exit with 2 if there is any
	interval time.Duration
	given    func(flag string) bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:               "status [NAME...]",
		Short:             "Show pools, budgets and stock pools, and what a run would change",
		Long:              statusHelp,
		Example:           statusExamples,
		RunE:              s.Command(o.run),
		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	o.given = f.Changed
	f.BoolVar(&o.machines, "machines", false, "List the instances of pools. JSON always does.")
	f.BoolVarP(&o.follow, "watch", "w", false, "Repeat until interrupted.")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "Time between two observations, with --watch.")
	f.BoolVar(&o.trouble, "exit-code", false, "Exit with 2 if anything is short, failing or exceeded.")
	process.Exclusive(cmd, "exit-code", "watch", "--watch has no exit code")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd, process.Wide, process.Name)
	return cmd
}

func (o *options) run(ctx context.Context, names []string) error {
	if err := declaration.Names(names).Validate(); err != nil {
		return process.WrongUsage(err)
	}
	if o.given("interval") && !o.follow {
		return process.Usagef("--interval needs --watch (-w)")
	}
	if o.interval < 100*time.Millisecond {
		return process.Usagef("--interval must be at least 100ms")
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	// The store can be read without an account.
	all := o.store.World(place, o.cloud.Lazy(), o.store.Cluster()).Runner()
	if o.follow {
		return o.watch(ctx, all, names)
	}
	report, err := o.observe(ctx, all, names)
	if err != nil {
		return err
	}
	if !o.session.JSON() { // which has them
		o.session.Warn(report.Warnings.Texts()...)
	}
	err = o.session.Print(report, func(style terminal.Style) string {
		return text(o.layout(style, names), report)
	})
	if err != nil {
		return err
	}
	return o.verdict(report)
}

// layout returns the options of the text.
func (o *options) layout(style terminal.Style, names []string) layout {
	v := layout{style: style, machines: o.machines, named: len(names) > 0, width: max(0, style.Width-1), zone: o.session.Zone}
	v.names = o.session.Output(process.Name)
	v.named = v.named || o.session.Output(process.Wide)
	return v
}

func (o *options) observe(ctx context.Context, all *reconcile.Runner, names []string) (reconcile.StatusReport, error) {
	progress := o.session.StartProgress()
	report, err := all.Status(ctx, names...)
	progress.Stop()
	if err != nil {
		return report, err
	}
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	return report.NoNulls(), nil
}

// verdict is the exit code. It is an error if an object could not be observed.
func (o *options) verdict(report reconcile.StatusReport) error {
	all := report.Declarations()
	failed := outcome.Count(all, outcome.Failed)
	switch {
	case failed > 0:
		return process.WithExitCode(process.Partly(len(all)-failed),
			fmt.Errorf("%d of %d %s could not be observed", failed, len(all), describe.Declarations(all)))
	case o.trouble && report.Trouble():
		return process.WithExitCode(process.ExitTrouble, nil)
	}
	return nil
}
