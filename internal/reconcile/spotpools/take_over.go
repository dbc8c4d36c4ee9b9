package spotpools

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TakeOver records the run's pools of a Terraform state in the store. If one is invalid, only
// that one fails.
func (r *Run) TakeOver(ctx context.Context, pools []declaration.StatePool, older string) {
	r.Run.TakeOver(pools, func(p declaration.StatePool) error {
		return r.kind.flow.takeOver(ctx, record.StateEntry[spotpool.Declaration]{StateResource: p, Older: older, Warn: r.kind.warnings.Warn})
	})
}

func (f *Flow) takeOver(ctx context.Context, t record.StateEntry[spotpool.Declaration]) error {
	if problems := t.Declaration.Validate(); t.Unread == nil && len(problems) > 0 {
		return fmt.Errorf("%s: %s", t.Address, problems[0])
	}
	return f.records().TakeOver(ctx, t, func(ctx context.Context, old stored, d spotpool.Declaration) (spotpool.Declaration, error) {
		if err := f.ownAccount(ctx, d); err != nil {
			return d, err
		}
		d, err := d.WithWriteOnly(old.Value.Declaration)
		if err != nil {
			return d, err
		}
		d, err = f.bindByJournal(ctx, d, old)
		if err != nil || old.Exists() {
			return d, err
		}
		return d, f.acceptObserved(ctx, d)
	})
}
