package stockpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Create declares a new stock pool and applies it. It waits up to wait until the pods are
// ready; 0 does not wait. It resumes an interrupted creation.
func (f *Flow) Create(ctx context.Context, d stockpool.Declaration, wait time.Duration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	c, uid, err := f.connect(ctx)
	if err != nil {
		return State{}, err
	}
	d.ClusterUID, d.Generation, d.DeploymentUID = uid, 1, ""
	return c.declare(ctx, d, wait, f.begun, (*pass).create)
}

// Update records a changed declaration and applies it. The UID, cluster and generation are
// those of the plan. It records a pool again whose record was lost. A pool that was imported
// from a Deployment takes it over. It resumes an interrupted creation that was imported.
func (f *Flow) Update(ctx context.Context, d stockpool.Declaration, wait time.Duration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	c, err := f.connectOwn(ctx, d)
	if err != nil {
		return State{}, err
	}
	return c.declare(ctx, d, wait, f.changed, (*pass).update)
}

// declare records a declaration and applies it under the pool's lock, then waits for the pods.
func (c connection) declare(ctx context.Context, d stockpool.Declaration, wait time.Duration,
	recorded func(context.Context, stored, stockpool.Declaration) (stockpool.Declaration, error), carryOut func(*pass, context.Context, stored) error,
) (State, error) {
	defer c.report(ctx)
	var p *pass
	err := c.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := c.records().Load(ctx, d.Key())
		if err != nil {
			return err
		}
		if d, err = d.WithWriteOnly(r.Value.Declaration); err != nil {
			return err
		}
		if d, err = recorded(ctx, r, d); err != nil {
			return err
		}
		if p, err = c.newPass(ctx, r, d); err != nil {
			return err
		}
		// A refused declaration leaves nothing behind, not even a record.
		if err := p.refuse(ctx); err != nil {
			return err
		}
		return carryOut(p, ctx, r)
	})
	if err == nil {
		err = p.settle(ctx, wait)
	}
	if err != nil {
		return State{}, err
	}
	return p.state(ctx, wait > 0), nil
}

func (f *Flow) begun(_ context.Context, r stored, d stockpool.Declaration) (stockpool.Declaration, error) {
	if r.Exists() && r.Value.Phase != declaration.Creating {
		return d, f.records().ErrTaken(r)
	}
	d.UID = cmp.Or(r.Value.Declaration.UID, record.NewID())
	return d, nil
}

func (f *Flow) changed(ctx context.Context, r stored, d stockpool.Declaration) (stockpool.Declaration, error) {
	if d.UID != "" {
		if err := f.records().CheckNotDestroyed(ctx, d); err != nil {
			return d, err
		}
	}
	if !r.Exists() {
		return d.WithIdentity(cmp.Or(d.UID, record.NewID()), d.Generation+1), nil
	}
	old := r.Value.Declaration
	if d.UID == "" && isTakeover(r, d) {
		d = d.WithIdentity(old.Identity()) // a take-over that was interrupted after it was recorded
	}
	d.DeploymentUID = old.DeploymentUID
	changed, _, err := f.records().Change(r, d)
	return changed, err
}

// create records a new declaration, and acts on it.
func (p *pass) create(ctx context.Context, r stored) error {
	r, err := p.records().Save(ctx, r, declaration.Creating, p.declaration)
	if err != nil {
		return err
	}
	p.recorded = true
	if _, err := p.act(ctx); err != nil {
		return err
	}
	_, err = p.records().Save(ctx, r, declaration.Active, p.declaration)
	return err
}

// update records a changed declaration, and acts on it.
func (p *pass) update(ctx context.Context, r stored) error {
	if err := p.try(ctx, r); err != nil {
		return err
	}
	d := p.declaration
	differs := !r.Exists() || !record.Same(r.Value.Declaration, d)
	if differs || r.Value.Phase != declaration.Active {
		if _, err := p.records().Save(ctx, r, declaration.Active, d); err != nil {
			return err
		}
		p.recorded = true
		if differs && p.journal.Exists() {
			if err := p.keep(ctx, p.journal.Value.RecordUpdate(d, p.now())); err != nil {
				return err
			}
		}
	}
	_, err := p.act(ctx)
	return err
}

// try dry-runs an unrecorded declaration, so that a refused one leaves no record. Runs would
// resume that record, and each application would be refused, including a budget's pause.
func (p *pass) try(ctx context.Context, r stored) error {
	d, live, old := p.declaration, p.observation.Deployment, r.Value.Declaration
	if live == nil || live.DeletionTimestamp != nil {
		return nil
	}
	container := cmp.Or(p.journal.Value.Container, live.Spec.Template.Spec.Containers[0].Name)
	sized := d.Replicas == old.Replicas && d.ReplicasPolicy == old.ReplicasPolicy && d.Maximum == old.Maximum
	if r.Exists() && sized && d.Hash(container) == old.Hash(container) {
		return nil
	}
	_, err := p.cluster.PreviewStock(ctx, live, d.Desired(live, container, d.Replicas))
	return err
}

func valid(d stockpool.Declaration) error {
	var problems []error
	for _, p := range d.Validate() {
		problems = append(problems, errors.New(p.String()))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("the cluster refuses the declaration of the stock pool %s, and nothing was changed: %w", d.Key(), errors.Join(problems...))
}

// settle waits until the pool's pods are ready, without its lock. A timeout is only a warning:
// after an error Terraform would replace the pool.
func (p *pass) settle(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for wait > 0 && !p.plan.Status.Settled() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(p.pollInterval()):
		}
		observation, err := p.cluster.StockOf(ctx, p.declaration.Namespace, p.declaration.Name)
		if err != nil || !observation.Known() {
			continue
		}
		p.observation = observation
		if err := p.judge(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		s := p.plan.Status
		p.Reporter.Report(p.declaration.Object(), fmt.Sprintf("%s: %d of %d pods are ready", s.Phase, s.Available+s.Allocated, s.Desired), nil)
	}
	return nil
}
