// Package status is the command gpupool status.
package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
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
	output   string
	machines bool
	follow   bool
	interval time.Duration
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
nothing. NAME is that of a pool, REGION/NAME as well, or of a budget.

capacity  instances that work, or launch and will soon
held      all of the pool's instances, stuck and stopped ones and open launches too
outdated  instances that were launched with another configuration`,
		Example: statusExamples,
		RunE:    s.Run(o.run),
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return o.store.CompleteNames(cmd.Context(), s, store.SpotPools, store.Budgets)
		},
	}
	o.store.Register(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.machines, "machines", false, "list the instances, too (JSON always does)")
	f.BoolVarP(&o.follow, "watch", "w", false, "look again and again, until stopped")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "how long after a look the next one follows, with --watch")
	o.cloud.Register(cmd)
	s.Log.Register(cmd)
	process.OutputVar(cmd, &o.output)
	return cmd
}

func (o *options) run(ctx context.Context, names []string) error {
	if o.interval < 100*time.Millisecond {
		return process.Usagef("--interval must be at least 100ms")
	}
	place, err := o.store.Open(ctx, o.session, false)
	if err != nil {
		return err
	}
	log := o.session.Log.Logger(o.session.Process)
	cloud, err := o.cloud.Cloud(ctx, o.session, place, log)
	if err != nil {
		return err
	}
	engine := o.store.Engine(o.session, place, cloud, nil)
	if o.follow {
		return o.watch(ctx, engine, names)
	}
	report, err := o.look(ctx, engine, names)
	if err != nil {
		return err
	}
	if o.output == process.AsJSON {
		err = o.session.PutJSON(report, true)
	} else {
		for _, text := range report.Warnings {
			o.session.Warn(text)
		}
		err = o.session.Put([]byte(o.text(report)))
	}
	if err != nil {
		return err
	}
	return verdict(report)
}

func (o *options) text(report reconcile.StatusReport) string {
	return text(o.session.StyleOf(o.session.Stdout), report, o.machines)
}

// look asks once, and keeps what was named.
func (o *options) look(ctx context.Context, engine *reconcile.Engine, names []string) (reconcile.StatusReport, error) {
	progress := o.session.StartProgress()
	report, err := engine.Status(ctx)
	progress.Stop()
	if err != nil {
		return report, err
	}
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	for _, name := range names {
		pool := slices.ContainsFunc(report.SpotPools, func(p reconcile.PoolStatus) bool { return named(p, name) })
		if !pool && !slices.ContainsFunc(report.Budgets, func(b reconcile.BudgetStatus) bool { return b.Name == name }) {
			return report, fmt.Errorf("no pool and no budget %s is declared in the store %s", name, report.Store)
		}
	}
	if len(names) > 0 {
		report.SpotPools = slices.DeleteFunc(report.SpotPools, func(p reconcile.PoolStatus) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return named(p, name) })
		})
		report.Budgets = slices.DeleteFunc(report.Budgets, func(b reconcile.BudgetStatus) bool { return !slices.Contains(names, b.Name) })
	}
	for n := range report.SpotPools {
		noNulls(&report.SpotPools[n])
	}
	return report, nil
}

func named(p reconcile.PoolStatus, name string) bool {
	return name == p.Name || name == p.Region+"/"+p.Name
}

// noNulls has lists of nothing be lists in JSON.
func noNulls(p *reconcile.PoolStatus) {
	orEmpty(&p.Decisions)
	orEmpty(&p.Machines)
	orEmpty(&p.Cooldowns)
}

func orEmpty[T spotpool.Decision | spotpool.Member | spotpool.Cooldown](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// verdict is the exit code of a status: what can't be seen failed.
func verdict(report reconcile.StatusReport) error {
	failed := 0
	for _, p := range report.SpotPools {
		if p.Outcome == reconcile.Failed {
			failed++
		}
	}
	for _, b := range report.Budgets {
		if b.Outcome == reconcile.Failed {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	pools, budgets := len(report.SpotPools), len(report.Budgets)
	return process.WithExitCode(process.Partly(pools+budgets-failed), fmt.Errorf("%d of %d %s can't be seen", failed, pools+budgets, describe.Declarations(pools, budgets)))
}
