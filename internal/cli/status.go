package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

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

type statusOptions struct {
	session  *session
	cloud    cloudOptions
	store    storeOptions
	output   string
	machines bool
	follow   bool
	interval time.Duration
}

func newStatus(s *session) *cobra.Command {
	o := &statusOptions{session: s}
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
		RunE:    s.run(o.run),
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return o.store.complete(cmd.Context(), s, store.SpotPools, store.Budgets)
		},
	}
	o.store.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.machines, "machines", false, "list the instances, too (JSON always does)")
	f.BoolVarP(&o.follow, "watch", "w", false, "look again and again, until stopped")
	lengthVar(cmd, &o.interval, "interval", 5*time.Second, "how long after a look the next one follows, with --watch")
	o.cloud.register(cmd)
	s.log.register(cmd)
	outputVar(cmd, &o.output)
	return cmd
}

func (o *statusOptions) run(ctx context.Context, names []string) error {
	if o.interval < 100*time.Millisecond {
		return usagef("--interval must be at least 100ms")
	}
	place, err := o.store.open(ctx, o.session, false)
	if err != nil {
		return err
	}
	log := o.session.log.logger(o.session.Process)
	cloud, err := o.cloud.lazily(ctx, o.session, place, log)
	if err != nil {
		return err
	}
	engine := &reconcile.Engine{Cloud: cloud, Store: place, Actor: o.store.actor, Log: log}
	if o.follow {
		return o.watch(ctx, engine, names)
	}
	report, err := o.look(ctx, engine, names)
	if err != nil {
		return err
	}
	if o.output == asJSON {
		err = o.session.putJSON(report, true)
	} else {
		for _, text := range report.Warnings {
			o.session.warn(text)
		}
		err = o.session.put([]byte(o.text(report)))
	}
	if err != nil {
		return err
	}
	return statusVerdict(report)
}

func (o *statusOptions) text(report reconcile.StatusReport) string {
	return statusText(o.session.styleOf(o.session.Stdout), report, o.machines)
}

// look asks once, and keeps what was named.
func (o *statusOptions) look(ctx context.Context, engine *reconcile.Engine, names []string) (reconcile.StatusReport, error) {
	progress := o.session.startProgress()
	report, err := engine.Status(ctx)
	progress.stop()
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

// statusVerdict is the exit code of a status: what can't be seen failed.
func statusVerdict(report reconcile.StatusReport) error {
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
	return withExitCode(partly(pools+budgets-failed), fmt.Errorf("%d of %d %s can't be seen", failed, pools+budgets, declarations(pools, budgets)))
}

// watch looks again and again. The first look must succeed; later ones may fail,
// and the one after tries again.
func (o *statusOptions) watch(ctx context.Context, engine *reconcile.Engine, names []string) error {
	screen := &screen{session: o.session, look: o.session.styleOf(o.session.Stdout)}
	for first := true; ; first = false {
		report, err := o.look(ctx, engine, names)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && first:
			return err
		case err != nil:
			err = screen.note(err)
		case o.output == asJSON:
			err = o.session.putJSON(report, false)
		default:
			err = screen.show(o.text(report))
		}
		if err != nil {
			return err
		}
		if err := pause(ctx, o.interval); err != nil {
			return err
		}
	}
}
