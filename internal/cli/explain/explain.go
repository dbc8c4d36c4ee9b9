// Package explain is the command gpupool explain.
package explain

import (
	"context"
	"fmt"
	"slices"

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

const explainHelp = `Print all that a decision follows from, and what a run of reconcile would do now.

Of a pool: each offering with its price, stock, quota and cool-down, and why it is
passed over; each instance, and what it counts as; what holds launches back. Of a
budget: what is used and by whom, since when it is exceeded, its thresholds, what a run
would do to whom, and what comes next. Of a stock pool: what is declared and what stands,
why pods wait and which pool could grow, which budgets cover it, each pod, and who last
wrote what of its Deployment. And what happened to each lately.

It looks, and changes and locks nothing. NAME is that of a pool (REGION/NAME as well), a
stock pool (NAMESPACE/NAME) or a budget, also with its kind before it
(stock_pool/ml/g1), or a glob of these ('team-*').`

const explainExamples = `  # Why is it short?
  gpupool explain train

  # Why do its pods wait?
  gpupool explain stock_pool/ml/g1

  # Offerings that are passed over for their price
  gpupool explain train -o json | jq '.spot_pools[].offerings[] | select(.code == "above_max_price")'`

type options struct {
	session *process.Session
	cloud   connect.CloudFlags
	store   connect.StoreFlags
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:               "explain NAME...",
		Short:             "Why a pool, a budget or a stock pool is as it is, and what comes next",
		Long:              explainHelp,
		Example:           explainExamples,
		Args:              cobra.MinimumNArgs(1),
		RunE:              s.Command(o.run),
		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, names []string) error {
	chosen := declaration.Names(names)
	if err := chosen.Validate(); err != nil {
		return process.WrongUsage(err)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	declared, err := connect.Declared(ctx, place)
	if err == nil {
		err = chosen.Among(place.String(), declared)
	}
	if err != nil {
		return err
	}
	cloud, err := o.cloud.Cloud(ctx, place)
	if err != nil {
		return err
	}
	progress := o.session.StartProgress()
	explained, err := o.store.World(place, cloud, o.store.Cluster()).Runner().Explain(ctx, chosen...)
	progress.Stop()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if !o.session.JSON() { // which has them
		o.session.Warn(explained.Warnings...)
	}
	if err := o.session.Print(noNulls(explained), func(style terminal.Style) string { return text(style, explained) }); err != nil {
		return err
	}
	return verdict(explained)
}

// noNulls makes JSON print an empty list as [], not as null.
func noNulls(x reconcile.Explanation) reconcile.Explanation {
	x.SpotPools, x.Budgets = slices.Clone(x.SpotPools), slices.Clone(x.Budgets)
	for n := range x.SpotPools {
		p := &x.SpotPools[n]
		describe.NoNulls(p)
		describe.OrEmpty(&p.Offerings)
		describe.OrEmpty(&p.Standings)
	}
	x.StockPools = slices.Clone(x.StockPools)
	for n := range x.StockPools {
		p := &x.StockPools[n]
		describe.OrEmpty(&p.Decisions)
		describe.OrEmpty(&p.Budgets)
		describe.OrEmpty(&p.Standings)
		describe.OrEmpty(&p.Writers)
	}
	for n := range x.Budgets {
		b := &x.Budgets[n]
		describe.OrEmpty(&b.Thresholds)
		describe.OrEmpty(&b.Decisions)
		describe.OrEmpty(&b.Next)
	}
	return x
}

// verdict is the exit code, which fails where something could not be observed.
func verdict(x reconcile.Explanation) error {
	all := x.Declarations()
	failed := outcome.Count(all, outcome.Failed)
	if failed == 0 {
		return nil
	}
	return process.WithExitCode(process.Partly(len(all)-failed), fmt.Errorf("%d of %d can't be explained: see what failed", failed, len(all)))
}
