package stockpools

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Refusal says why a declaration could not be carried out, as far as a plan can know: a
// namespace that is missing, a name that is taken, a budget that does not take its pods.
// Where that is only because the store has a record of the name, the error is
// *record.ExistsError: a replacement destroys what is recorded first.
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
		taken = r.Value.Phase != declaration.Creating && !tookOver(r, d)
		d = d.Identified(old.Identity())
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
		return fmt.Errorf("the store %s has a record of the stock pool %s with on_destroy = \"retain\": a replacement would destroy it, leave its "+
			"Deployment (uid %s), and then be refused since that has the name. Apply on_destroy = \"delete\" before you replace it, or give this stock "+
			"pool another name", f.Keeper.Store, d.Key(), live.UID)
	}
	return f.records().ErrTaken(r)
}

// undeclared says, by *record.UndeclaredError, that the store has no budget of the name that a
// pool has.
func (p *pass) undeclared(ctx context.Context) error {
	name := p.declaration.Budget
	if name == "" || slices.ContainsFunc(p.limits.budgets, func(of limit) bool { return of.Key == name && !of.unread }) {
		return nil
	}
	_, err := p.Keeper.NamedBudget(ctx, name)
	return err
}

// refuse observes the pool, and says why a declaration can't be carried out.
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
