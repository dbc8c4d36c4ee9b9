package stockpools

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Refusal returns why a declaration would fail, as far as a plan can tell. Reasons are a
// missing namespace, a taken name, or a budget that does not cover its pods. If only the
// store's record has the name, the error is *record.ExistsError, since a replacement destroys
// that first.
func (f *Flow) Refusal(ctx context.Context, d stockpool.Declaration) error {
	c, uid, err := f.connect(ctx)
	if err != nil {
		return err
	}
	if d.ClusterUID == "" {
		d.ClusterUID = uid
	}
	r, err := f.records().Load(ctx, d.Key())
	if err != nil {
		return err
	}
	old, taken := r.Value.Declaration, false
	if r.Exists() && d.UID == "" {
		taken = r.Value.Phase != declaration.Creating && !isTakeover(r, d)
		d = d.WithIdentity(old.Identity())
		d.DeploymentUID = old.DeploymentUID
	}
	p, err := c.newPass(ctx, r, d)
	if err != nil {
		return err
	}
	if err := p.refuse(ctx); err != nil {
		return err
	}
	if !taken {
		return p.undeclared(ctx)
	}
	if live := p.observation.Deployment; live != nil && old.OnDestroy == stockpool.DestroyRetain {
		return fmt.Errorf("the store %s has a record of the stock pool %s with on_destroy = \"retain\": a replacement would leave its "+
			"Deployment (uid %s). Apply on_destroy = \"delete\" before you replace it, or rename this stock pool", f.Repository.Store, d.Key(), live.UID)
	}
	return f.records().ErrTaken(r)
}

// undeclared returns a *record.UndeclaredError if the store has no record of the pool's budget.
func (p *pass) undeclared(ctx context.Context) error {
	name := p.declaration.Budget
	if name == "" || slices.ContainsFunc(p.limits.budgets, func(of limit) bool { return of.Key == name && !of.unread }) {
		return nil
	}
	_, err := p.Repository.NamedBudget(ctx, name)
	return err
}

// refuse observes the pool, and returns why a declaration cannot be carried out.
func (p *pass) refuse(ctx context.Context) (err error) {
	d := p.declaration
	if p.observation, err = p.cluster.StockOf(ctx, d.Namespace, d.Name); err != nil {
		return err
	}
	if plan := decide.Decide(p.situation()); plan.Refused != nil {
		return plan.Refused
	}
	if of := p.observation.Deployment; of != nil {
		if err := d.Selects(of); err != nil {
			return err
		}
	}
	return p.limits.refuseBudget(d, p.observation.NamespaceLabels)
}
