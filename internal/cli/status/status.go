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

const statusExamples = `  gpupool status
  gpupool status ap-singapore/train --machines

  # Follow it
  gpupool status -w

  # The pools and budgets of a team, each of them
  gpupool status 'team-a*'

  # For a script: 2 where anything is short, failing or exceeded
  gpupool status --exit-code > /dev/null

  # The private addresses of a pool's instances
  gpupool status train -o json | jq -r '.spot_pools[].machines[].private_ip'`

type options struct {
	session  *process.Session
	cloud    connect.CloudFlags
	store    connect.StoreFlags
	machines bool
	follow   bool
	trouble  bool // exit with 2 where there is any
	interval time.Duration
	given    func(flag string) bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:   "status [NAME...]",
		Short: "What is declared beside what is there",
		Long: `Print every pool that is declared, how many instances it has, and what a run of
reconcile would do about it now; every budget, as the last run judged it (what it has
used this very moment is for gpupool usage to say); and every stock pool, how many pods
it has, and what keeps it from being as declared. It looks, and changes and locks
nothing. What is in trouble comes first: what fails, since when and with what, and what
to do about it. Where there are many, those that are as declared are only counted.

NAME is that of a pool (REGION/NAME as well), a stock pool (NAMESPACE/NAME) or a budget,
also with its kind before it (stock_pool/ml/g1), or a glob of these ('team-*'): the
others are then left out, and each that fits is listed.

capacity  instances that work, or launch and will soon
held      all of the pool's instances, stuck and stopped ones and open launches too
outdated  instances that were launched with another configuration
nodes     where a pool's instances become nodes: the Ready ones of all
desired   pods that a stock pool is to have now: none while a budget has it paused
available pods of it that are ready, and not in use`,
		Example:           statusExamples,
		RunE:              s.Command(o.run),
		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	o.given = f.Changed
	f.BoolVar(&o.machines, "machines", false, "list the instances, too (JSON always does)")
	f.BoolVarP(&o.follow, "watch", "w", false, "look again and again, until stopped")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "how long after a look the next one follows, with --watch")
	f.BoolVar(&o.trouble, "exit-code", false, "exit with 2 where anything is short, failing or exceeded")
	process.Exclusive(cmd, "exit-code", "watch", "of many looks no exit code tells")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, names []string) error {
	if err := declaration.Names(names).Validate(); err != nil {
		return process.WrongUsage(err)
	}
	if o.given("interval") && !o.follow {
		return process.Usagef("--interval is the pause between two looks, and without --watch there is only one: add --watch (-w), or leave it out")
	}
	if o.interval < 100*time.Millisecond {
		return process.Usagef("--interval must be at least 100ms")
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	// What the store tells needs no account, and is told where there is none.
	all := o.store.World(place, o.cloud.Lazy(), o.store.Cluster()).Runner()
	if o.follow {
		return o.watch(ctx, all, names)
	}
	report, err := o.observe(ctx, all, names)
	if err != nil {
		return err
	}
	if !o.session.JSON() { // which has them
		o.session.Warn(report.Warnings...)
	}
	err = o.session.Print(report, func(style terminal.Style) string {
		return text(o.layout(style, names), report)
	})
	if err != nil {
		return err
	}
	return o.verdict(report)
}

// layout is how a status is shown. A line is cut at the width of a terminal.
func (o *options) layout(style terminal.Style, names []string) layout {
	return layout{style: style, machines: o.machines, named: len(names) > 0, width: max(0, style.Width-1), zone: o.session.Zone}
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
	for n := range report.SpotPools {
		describe.NoNulls(&report.SpotPools[n])
	}
	return report, nil
}

// verdict is the exit code of a status, which fails where something could not be
// observed.
func (o *options) verdict(report reconcile.StatusReport) error {
	all := report.Declarations()
	failed := outcome.Count(all, outcome.Failed)
	switch {
	case failed > 0:
		return process.WithExitCode(process.Partly(len(all)-failed), fmt.Errorf("%d of %d %s can't be seen", failed, len(all), describe.Declarations(all)))
	case o.trouble && report.Trouble():
		return process.WithExitCode(process.ExitTrouble, nil)
	}
	return nil
}
