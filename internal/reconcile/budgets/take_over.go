package budgets

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// TakeOver copies the budgets of a Terraform state that the run judges into the store. One that cannot
// be copied fails only itself.
func (r *Run) TakeOver(ctx context.Context, list []declaration.StateBudget, older string) {
	r.Run.TakeOver(list, func(b declaration.StateBudget) error {
		b.Declaration = b.Declaration.WithDefaults()
		return r.kind.takeOver(ctx, record.StateEntry[budget.Declaration]{StateResource: b, Older: older, Warn: r.kind.warnings.Warn})
	})
}

func (k *kind) takeOver(ctx context.Context, t record.StateEntry[budget.Declaration]) error {
	if t.Unread == nil {
		if err := valid(t.Declaration); err != nil {
			return fmt.Errorf("%s: %w", t.Address, err)
		}
	}
	return k.Records().TakeOver(ctx, t, func(ctx context.Context, old record.Stored[budget.Declaration], d budget.Declaration) (budget.Declaration, error) {
		cluster, err := k.flow.clusterOf(ctx, d)
		if err != nil {
			return d, err
		}
		// The state does not have the time of publication: the grace period of a new limit begins now.
		d.PublishedAt = published(old, d, publishedIn(cluster, k.flow.now()))
		return d, nil
	})
}
