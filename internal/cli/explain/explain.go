// Package explain is the command gpupool explain.
package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const explainHelp = `Show every input of a decision, and what a reconcile run would do now. Nothing is
changed or locked.

  Pool        each offering with price, stock, quota and cooldown, and why it is
              skipped; each instance and what it counts as; what blocks launches
  Budget      usage and who caused it, alert thresholds, what a run would do to
              which pods, and what follows
  Stock pool  desired and actual pods, why pods are pending and which pool could
              grow, covering budgets, and who last changed its Deployment

Recent events of each are listed also.

NAME is the name of a pool, a stock pool or a budget. It can include the region, the
namespace or the kind: ap-singapore/train, ml/g1, budget/team-a. A pattern such as
'team-*' selects several.`

const explainExamples = `  # Why is the pool short?
  gpupool explain train

  # Why are the pods of the stock pool pending?
  gpupool explain stock_pool/ml/g1

  # Offerings that are skipped because of their price
  gpupool explain train -o json |
    jq '.spot_pools[].offerings[] | select(.code == "above_max_price")'`

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
		Short:             "Explain the state of a pool, a budget or a stock pool",
		Long:              explainHelp,
		Example:           explainExamples,
		Args:              process.AtLeastOne("gpupool explain train", "NAME"),
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
	if !o.session.JSON() { // JSON contains them
		o.session.Warn(explained.Warnings.Texts()...)
	}
	if err := o.session.Print(explained.NoNulls(), func(style terminal.Style) string { return text(style, explained, time.Local) }); err != nil {
		return err
	}
	return verdict(explained)
}

// verdict is the exit code. It is an error if an object could not be observed.
func verdict(x reconcile.Explanation) error {
	all := x.Declarations()
	failed := outcome.Count(all, outcome.Failed)
	for _, b := range x.Budgets {
		if b.Outcome == outcome.Failed && b.Observed { // its enforcement is ineffective, as is explained
			failed--
		}
	}
	if failed == 0 {
		return nil
	}
	return process.WithExitCode(process.Partly(len(all)-failed), fmt.Errorf("%d of %d could not be explained", failed, len(all)))
}
