package stockpools

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TakeOver brings the stock pools of a Terraform state into the store, those that the run
// looks after. One that can't be brought fails alone.
func (r *Run) TakeOver(ctx context.Context, list []declaration.StateStockPool, older string) {
	for _, s := range list {
		r.keys = append(r.keys, s.Declaration.Key())
		if !r.options.Names.StockPool(s.Declaration.Key()) {
			continue
		}
		s.Declaration = s.Declaration.WithDefaults()
		t := record.StateEntry[stockpool.Declaration]{StateResource: s, Older: older, Warn: r.warnings.Add}
		if err := r.flow.takeOver(ctx, t); err != nil {
			r.add(newReport(s.Declaration, stockpool.Plan{}, outcome.Failed, err), nil)
		}
	}
}

func (f *Flow) takeOver(ctx context.Context, t record.StateEntry[stockpool.Declaration]) error {
	if t.Unread == nil {
		if err := valid(t.Declaration); err != nil {
			return fmt.Errorf("%s: %w", t.Address, err)
		}
	}
	return f.records().TakeOver(ctx, t, func(ctx context.Context, _ record.Stored[stockpool.Declaration], d stockpool.Declaration) (stockpool.Declaration,
		error) {
		_, err := f.clusterOf(ctx, d)
		return d, err
	})
}
