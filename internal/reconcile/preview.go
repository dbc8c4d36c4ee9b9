package reconcile

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// PreviewPool decides what the creation of a pool would do on the market of now,
// as CreatePool decides it, and writes nothing. All pools of a plan share one look
// at a region's market. The error says why that is not known, and is *ExistsError
// where the creation would be refused.
func (e *Engine) PreviewPool(ctx context.Context, d spotpool.Declaration) (spotpool.Plan, error) {
	account, err := e.Cloud.AccountID(ctx)
	if err != nil {
		return spotpool.Plan{}, err
	}
	if err := e.standing(ctx, d); err != nil {
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

// standing says that a pool of this name is there already, in the store or in the
// cloud. One whose creation was cut short is gone on with.
func (e *Engine) standing(ctx context.Context, d spotpool.Declaration) error {
	r, err := e.loadRecord(ctx, d.Key())
	switch {
	case err != nil:
		return err
	case r.exists() && r.value.Phase != declaration.Creating:
		return e.recorded(r)
	case r.exists():
		return nil
	}
	named, err := e.named(ctx, d)
	if err != nil {
		return err
	}
	slices.SortFunc(named, func(a, b spotpool.Instance) int { return strings.Compare(a.ID, b.ID) })
	return taken(d, named)
}

// named are the instances that carry the name of a pool that is planned. The first
// few pools are asked for by themselves, and all others share one look.
func (e *Engine) named(ctx context.Context, d spotpool.Declaration) ([]spotpool.Instance, error) {
	if e.alone(d.Region) {
		found, _, err := e.Cloud.ObserveNamed(ctx, d.Region, d.Name)
		return found, err
	}
	view, err := e.region(ctx, d.Region, sharedFor)
	if err != nil {
		return nil, err
	}
	return slices.Clone(view.named(d.Name)), nil
}
