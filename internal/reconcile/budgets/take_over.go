package budgets

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// TakeOver brings the budgets of a Terraform state into the store, those that the
// run judges. One that can't be brought fails alone.
func (r *Run) TakeOver(ctx context.Context, list []declaration.StateBudget, older string) {
	r.Run.TakeOver(list, func(b declaration.StateBudget) error {
		b.Declaration = b.Declaration.WithDefaults()
		return r.kind.takeOver(ctx, record.StateEntry[budget.Declaration]{StateResource: b, Older: older, Warn: r.kind.warnings.Add})
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
		// The state doesn't say when the limit was published: a new one's grace begins now.
		d.PublishedAt = published(old, d, publishedIn(cluster, k.flow.now()))
		return d, nil
	})
}
