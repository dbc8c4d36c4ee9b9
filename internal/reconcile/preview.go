package reconcile

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// PreviewPool decides what the creation of a pool would do on the market of now,
// as CreatePool decides it, and writes nothing. All pools of a plan share one look
// at a region's market. The error says why that is not known.
func (e *Engine) PreviewPool(ctx context.Context, d spotpool.Declaration) (spotpool.Plan, error) {
	account, err := e.Cloud.AccountID(ctx)
	if err != nil {
		return spotpool.Plan{}, err
	}
	now := e.now()
	market := e.marketsOf(ctx, d.Region)
	if market.Offers == nil {
		return spotpool.Plan{}, market.err
	}
	d.AccountID = account
	return spotpool.Decide(spotpool.Situation{
		Declaration: d, Now: now, Gate: e.gate(ctx, d),
		Observation: market.add(spotpool.Observation{At: now, Region: d.Region, AccountID: account}, d),
	}), nil
}
