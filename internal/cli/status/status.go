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

  # The private addresses of a pool's instances
  gpupool status train -o json | jq -r '.spot_pools[].machines[].private_ip'`

type options struct {
	session  *process.Session
	cloud    connect.CloudFlags
	store    connect.StoreFlags
	machines bool
	follow   bool
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
reconcile would do about it now; and every budget, as the last run judged it (what it
has used this very moment is for gpupool usage to say). It looks, and changes and locks
nothing. NAME is that of a pool, REGION/NAME as well, or of a budget, or a glob of these
('team-*'): the others are then left out.

capacity  instances that work, or launch and will soon
held      all of the pool's instances, stuck and stopped ones and open launches too
outdated  instances that were launched with another configuration`,
		Example:           statusExamples,
		RunE:              s.Command(o.run),
		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	o.given = f.Changed
	f.BoolVar(&o.machines, "machines", false, "list the instances, too (JSON always does)")
	f.BoolVarP(&o.follow, "watch", "w", false, "look again and again, until stopped")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "how long after a look the next one follows, with --watch")
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
	cloud, err := o.cloud.Cloud(ctx, place)
	if err != nil {
		return err
	}
	engine := o.store.Engine(place, cloud, nil)
	if o.follow {
		return o.watch(ctx, engine, names)
	}
	report, err := o.look(ctx, engine, names)
	if err != nil {
		return err
	}
	if !o.session.JSON() { // which has them
		o.session.Warn(report.Warnings...)
	}
	err = o.session.Print(report, func(style terminal.Style) string {
		return text(view{style: style, machines: o.machines, zone: o.session.Zone}, report)
	})
	if err != nil {
		return err
	}
	return verdict(report)
}

func (o *options) look(ctx context.Context, engine *reconcile.Engine, names []string) (reconcile.StatusReport, error) {
	progress := o.session.StartProgress()
	report, err := engine.Status(ctx, names...)
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
// looked at.
func verdict(report reconcile.StatusReport) error {
	all := report.Declarations()
	failed := outcome.Count(all, outcome.Failed)
	if failed == 0 {
		return nil
	}
	return process.WithExitCode(process.Partly(len(all)-failed), fmt.Errorf("%d of %d %s can't be seen", failed, len(all), describe.Declarations(all)))
}
