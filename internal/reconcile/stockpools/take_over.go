package stockpools

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TakeOver moves the stock pools of a Terraform state into the store. A failure affects only
// its own pool.
func (r *Run) TakeOver(ctx context.Context, list []declaration.StateStockPool, older string) {
	r.Run.TakeOver(list, func(s declaration.StateStockPool) error {
		s.Declaration = s.Declaration.WithDefaults()
		return r.kind.flow.takeOver(ctx, record.StateEntry[stockpool.Declaration]{StateResource: s, Older: older, Warn: r.kind.warnings.Warn})
	})
}

func (f *Flow) takeOver(ctx context.Context, t record.StateEntry[stockpool.Declaration]) error {
	if t.Unread == nil {
		if err := valid(t.Declaration); err != nil {
			return fmt.Errorf("%s: %w", t.Address, err)
		}
	}
	return f.records().TakeOver(ctx, t, func(ctx context.Context, old stored, d stockpool.Declaration) (stockpool.Declaration, error) {
		if _, err := f.connectOwn(ctx, d); err != nil {
			return d, err
		}
		return d.WithWriteOnly(old.Value.Declaration)
	})
}
