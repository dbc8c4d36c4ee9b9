package stockpools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// View observes a stock pool for a refresh or a data source, without a lock. It prefers the
// declaration in the store's record to d. The Deployment is the one that the pool owns now.
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
		state.Warnings = append(state.Warnings, f.records().DeletionUnfinished(state.Declaration))
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
	case err != nil: // a refused pool fails no plan of others
		state.Warnings = append(state.Warnings, reason.DriftUnknown(reason.Failure(err)))
	}
	p.findRooms(ctx)
	state.Pods, state.Status, state.Decisions = decide.Standings(p.situation()), p.plan.Status, p.plan.Decisions
	state.Replacement = drift.Replacement(p.observation.Deployment)
	state.Warnings = slices.Concat(state.Warnings, p.warned().Warnings, held(state.Status))
	if refused := p.plan.Refused; refused != nil {
		state.Warnings = append(state.Warnings, refused.Because())
	}
	if state.Deleting {
		state.Decisions = nil
	}
	if uid := p.plan.Status.DeploymentUID; uid != "" {
		state.Declaration.DeploymentUID = uid
	}
	return state, nil
}

// known returns the record of a pool, if any, or that it was destroyed. A pool that was
// imported from a Deployment has no UID. Its record is that of an apply that took over this
// Deployment, and was interrupted before the state was saved.
func (f *Flow) known(ctx context.Context, d stockpool.Declaration) (r stored, destroyed bool, err error) {
	if d.UID != "" {
		r, tombstone, err := f.records().Known(ctx, d)
		return r, err == nil && tombstone.Exists(), err
	}
	r, err = f.records().Load(ctx, d.Key())
	if err != nil || !isTakeover(r, d) {
		return stored{}, false, err
	}
	return r, false, nil
}

// isTakeover reports whether a record is of a pool that took over the Deployment of a declaration
// without a UID.
func isTakeover(r stored, d stockpool.Declaration) bool {
	return r.Exists() && d.DeploymentUID != "" && d.DeploymentUID == r.Value.Declaration.DeploymentUID
}

// Find finds a stock pool for an import, by NAMESPACE/NAME. It looks in the store, and then for
// a Deployment of that name that an apply would take over. The declaration then has no UID.
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
		return stockpool.Declaration{}, fmt.Errorf("%w, and the cluster has no Deployment of that name", err)
	}
	return observation.Declaration()
}
