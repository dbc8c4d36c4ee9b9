package stockpools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// View observes a stock pool for a refresh or a data source, without a lock. Where the
// store has a record of it, its declaration is the state's; else d is. The state's
// Deployment is the one that the pool owns now.
func (f *Flow) View(ctx context.Context, d stockpool.Declaration) (State, error) {
	state := State{Declaration: d}
	r, destroyed, err := f.known(ctx, d)
	if err != nil || destroyed {
		state.Destroyed = destroyed
		return state, err
	}
	if r.Exists() {
		state.Unfinished = r.Value.Phase == declaration.Creating
		state.Recorded = !state.Unfinished
		state.Declaration = r.Value.Declaration
	}
	if state.Deleting = r.Value.Phase == declaration.Deleting; state.Deleting {
		state.Warnings = append(state.Warnings, f.records().Unfinished(state.Declaration))
	}
	c, err := f.connectOwn(ctx, state.Declaration)
	if err != nil {
		return state, err
	}
	p, err := c.newPass(ctx, r, state.Declaration.WithDefaults())
	if err != nil {
		return state, err
	}
	err = p.observe(ctx)
	var rejected interface{ Rejected() bool }
	switch isRejected := errors.As(err, &rejected) && rejected.Rejected(); {
	case err != nil && !isRejected:
		return state, err
	case err != nil: // a pool that is refused fails no plan of others
		state.Warnings = append(state.Warnings, fmt.Sprintf("whether its Deployment is as declared is unknown, since the cluster refuses a dry run: %v", err))
	}
	p.findRooms(ctx)
	state.Pods, state.Status, state.Decisions = decide.Standings(p.situation()), p.plan.Status, p.plan.Decisions
	state.Replacement = drift.Replacement(p.observation.Deployment)
	state.Warnings = slices.Concat(state.Warnings, p.warned().Warnings, held(state.Status))
	if err := p.plan.Refused; err != nil {
		state.Warnings = append(state.Warnings, err.Error())
	}
	if state.Deleting {
		state.Decisions = nil
	}
	if uid := p.plan.Status.DeploymentUID; uid != "" {
		state.Declaration.DeploymentUID = uid
	}
	return state, nil
}

// known is the record of a pool, if any, or that it was destroyed. What was imported from
// a Deployment alone has no uid: its record is that of an apply which took exactly this
// Deployment over, and was cut short before the state had it.
func (f *Flow) known(ctx context.Context, d stockpool.Declaration) (r stored, destroyed bool, err error) {
	if d.UID != "" {
		r, tombstone, err := f.records().Known(ctx, d)
		return r, err == nil && tombstone.Exists(), err
	}
	r, err = f.records().Load(ctx, d.Key())
	if err != nil || !tookOver(r, d) {
		return stored{}, false, err
	}
	return r, false, nil
}

// tookOver says whether a record is of a pool that took over the Deployment which a
// declaration without a uid names.
func tookOver(r stored, d stockpool.Declaration) bool {
	return r.Exists() && d.DeploymentUID != "" && d.DeploymentUID == r.Value.Declaration.DeploymentUID
}

// Find finds a stock pool for an import, by NAMESPACE/NAME: in the store, or else a
// Deployment of that name in the cluster, which an apply would take over. Its declaration
// then has no uid.
func (f *Flow) Find(ctx context.Context, namespace, name string) (stockpool.Declaration, error) {
	r, err := f.records().Load(ctx, namespace+"/"+name)
	if err != nil || r.Exists() {
		return r.Value.Declaration, err
	}
	c, _, err := f.connect(ctx)
	if err != nil {
		return stockpool.Declaration{}, err
	}
	observation, err := c.cluster.StockOf(ctx, namespace, name)
	if err != nil {
		return stockpool.Declaration{}, err
	}
	if observation.Deployment == nil {
		_, err := f.records().Find(ctx, namespace+"/"+name)
		return stockpool.Declaration{}, fmt.Errorf("%w; nor has the cluster a Deployment of that name", err)
	}
	return observation.Declaration()
}
