package spotpools

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// Preview decides what the creation of a pool would do on the current market, and writes
// nothing. All pools of a plan share one observation of a region's market. The error is
// *record.ExistsError if the creation would be refused.
func (f *Flow) Preview(ctx context.Context, d spotpool.Declaration) (decide.Plan, error) {
	account, err := f.Cloud.Account(ctx)
	if err != nil {
		return decide.Plan{}, err
	}
	begun, err := f.refused(ctx, d)
	if err != nil {
		return decide.Plan{}, err
	}
	d.Currency = account.Currency
	if begun.Exists() {
		return f.previewResumed(ctx, d, begun)
	}
	now := f.now()
	market := f.observeMarkets(ctx, d.Region)
	if market.Offers == nil {
		return decide.Plan{}, market.err
	}
	d.AccountID = account.ID
	nothing := market.add(spotpool.Observation{At: now, Region: d.Region, AccountID: account.ID, Currency: account.Currency}, d)
	return decide.Decide(situation(d, nothing, nodeObservation{}, journal.Journal{}, f.gate(ctx, d), nil)), nil
}

// previewResumed is Preview for the continuation of an interrupted creation.
func (f *Flow) previewResumed(ctx context.Context, d spotpool.Declaration, begun stored) (decide.Plan, error) {
	old := begun.Value.Declaration
	d.UID, d.AccountID, d.ClusterUID = old.UID, old.AccountID, old.ClusterUID
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return decide.Plan{}, err
	}
	o, err := f.observePool(ctx, d, j.Value, nil)
	if err != nil {
		return decide.Plan{}, err
	}
	if err := sameAccount(d, o.AccountID); err != nil {
		return decide.Plan{}, err
	}
	plan := decide.Decide(situation(d, o, f.observePoolNodes(ctx, d, j.Value, o, sharedMaxAge, false), j.Value, f.gate(ctx, d), nil))
	plan.Messages = slices.Insert(plan.Messages, 0, reason.CreationResumed(reason.Count(plan.Total)))
	return plan, nil
}

// refused fails if the store or Tencent Cloud has a pool of this name. An interrupted creation
// is resumed instead: begun is its record.
func (f *Flow) refused(ctx context.Context, d spotpool.Declaration) (begun stored, err error) {
	r, err := f.records().Load(ctx, d.Key())
	switch {
	case err != nil:
		return stored{}, err
	case r.Exists() && r.Value.Phase != declaration.Creating:
		return stored{}, f.records().ErrTaken(r)
	case r.Exists():
		return r, nil
	}
	named, err := f.named(ctx, d)
	if err != nil {
		return stored{}, err
	}
	slices.SortFunc(named, func(a, b spotpool.Instance) int { return strings.Compare(a.ID, b.ID) })
	return stored{}, f.refuseTaken(d, named)
}

// named returns the instances with the name of a planned pool. The first few pools are
// observed one by one, and all others share one observation.
func (o *cloudObserver) named(ctx context.Context, d spotpool.Declaration) ([]spotpool.Instance, error) {
	if o.single(d.Region) {
		found, _, err := o.Cloud.ObserveNamed(ctx, d.Region, d.Name)
		return found, err
	}
	observed, err := o.observeRegion(ctx, d.Region, sharedMaxAge)
	if err != nil {
		return nil, err
	}
	return slices.Clone(observed.named(d.Name)), nil
}
