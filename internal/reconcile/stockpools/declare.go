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
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Create declares a new stock pool in the cluster at hand, and brings it about. It waits
// at most so long until its pods are ready; a wait of zero is none. A creation that was
// cut short is gone on with.
func (f *Flow) Create(ctx context.Context, d stockpool.Declaration, wait time.Duration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	cluster, uid, err := f.cluster(ctx)
	if err != nil {
		return State{}, err
	}
	d.ClusterUID, d.Generation, d.DeploymentUID = uid, 1, ""
	defer f.tell(ctx)
	p := &pass{}
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Load(ctx, d.Key())
		if err != nil {
			return err
		}
		if r.Exists() && r.Value.Phase != declaration.Creating {
			return f.records().ErrTaken(r)
		}
		if d.UID = r.Value.Declaration.UID; d.UID == "" {
			d.UID = record.NewID()
		}
		if p, err = f.begin(ctx, r, d); err != nil {
			return err
		}
		// What is refused leaves nothing behind, not even a record.
		if err := f.refuse(ctx, cluster, p); err != nil {
			return err
		}
		if r, err = f.records().Save(ctx, r, declaration.Creating, d); err != nil {
			return err
		}
		p.recorded = true
		if _, err := f.act(ctx, cluster, p); err != nil {
			return err
		}
		_, err = f.records().Save(ctx, r, declaration.Active, d)
		return err
	})
	if err != nil {
		return State{}, err
	}
	return f.settled(ctx, cluster, p, wait)
}

// Update records a changed declaration, and carries it out. It has the uid, the cluster
// and the generation that it was planned against. A pool whose record was lost is
// recorded anew, and so is one that was imported from a Deployment alone: it takes over
// the Deployment that it names. A creation that was cut short, and imported, is gone on
// with.
func (f *Flow) Update(ctx context.Context, d stockpool.Declaration, wait time.Duration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	cluster, err := f.clusterOf(ctx, d)
	if err != nil {
		return State{}, err
	}
	defer f.tell(ctx)
	p := &pass{}
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Load(ctx, d.Key())
		if err != nil {
			return err
		}
		if d, err = f.changed(ctx, r, d); err != nil {
			return err
		}
		if p, err = f.begin(ctx, r, d); err != nil {
			return err
		}
		if err := f.refuse(ctx, cluster, p); err != nil {
			return err
		}
		if err := f.try(ctx, cluster, r, p); err != nil {
			return err
		}
		return f.carryOut(ctx, cluster, r, p)
	})
	if err != nil {
		return State{}, err
	}
	return f.settled(ctx, cluster, p, wait)
}

// changed is what to record of a changed declaration.
func (f *Flow) changed(ctx context.Context, r stored, d stockpool.Declaration) (stockpool.Declaration, error) {
	if d.UID != "" {
		if err := f.records().Undestroyed(ctx, d); err != nil {
			return d, err
		}
	}
	if r.Exists() {
		old := r.Value.Declaration
		if d.UID == "" && d.DeploymentUID != "" && d.DeploymentUID == old.DeploymentUID {
			d = d.Identified(old.Identity()) // a take-over that was cut short once it was recorded
		}
		d.DeploymentUID = old.DeploymentUID
		changed, _, err := f.records().Change(r, d)
		return changed, err
	}
	if d.UID == "" {
		d.UID = record.NewID()
	}
	return d.Identified(d.UID, d.Generation+1), nil
}

// try tries, without changing anything, to apply a declaration that is not recorded yet:
// what the cluster refuses must leave no record behind. Runs would go on with that, and
// each application would be refused, by which a budget pauses the pool as well.
func (f *Flow) try(ctx context.Context, c Cluster, r stored, p *pass) error {
	d, live, old := p.declaration, p.seen.Deployment, r.Value.Declaration
	if live == nil || live.DeletionTimestamp != nil {
		return nil
	}
	container := cmp.Or(p.journal.Value.Container, live.Spec.Template.Spec.Containers[0].Name)
	sized := d.Replicas == old.Replicas && d.Keep == old.Keep && d.Maximum == old.Maximum
	if r.Exists() && sized && d.Sum(container) == old.Sum(container) {
		return nil
	}
	_, err := c.PreviewStock(ctx, live, d.Desired(live, container, d.Replicas))
	return err
}

// carryOut records a declaration and acts on it.
func (f *Flow) carryOut(ctx context.Context, c Cluster, r stored, p *pass) error {
	d := p.declaration
	differs := !r.Exists() || !record.Same(r.Value.Declaration, d)
	if differs || r.Value.Phase != declaration.Active {
		if _, err := f.records().Save(ctx, r, declaration.Active, d); err != nil {
			return err
		}
		p.recorded = true
		if differs && p.journal.Exists() {
			if err := f.keep(ctx, p, p.journal.Value.Updated(d, f.clusterNow(c))); err != nil {
				return err
			}
		}
	}
	_, err := f.act(ctx, c, p)
	return err
}

// begin is a pass about a pool, with its record, its journal and what budgets say.
func (f *Flow) begin(ctx context.Context, r stored, d stockpool.Declaration) (*pass, error) {
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return nil, err
	}
	l, err := f.limits(ctx, nil)
	return &pass{declaration: d, journal: j, recorded: r.Exists(), limits: l}, err
}

// refuse looks, and says why a declaration can't be carried out.
func (f *Flow) refuse(ctx context.Context, c Cluster, p *pass) (err error) {
	d := p.declaration
	if p.seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil {
		return err
	}
	plan := decide.Decide(decide.Situation{Declaration: d, Journal: p.journal.Value, Observation: p.seen, Recorded: p.recorded, Now: f.clusterNow(c)})
	if plan.Refused != nil {
		return plan.Refused
	}
	if of := p.seen.Deployment; of != nil {
		if err := d.Selects(of); err != nil {
			return err
		}
	}
	return p.limits.refuseBudget(d, p.seen.NamespaceLabels)
}

// valid says what is wrong with a declaration.
func valid(d stockpool.Declaration) error {
	var problems []error
	for _, p := range d.Validate() {
		problems = append(problems, errors.New(p.String()))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("the declaration of the stock pool %s can't be used, and nothing was changed: %w", d.Key(), errors.Join(problems...))
}

// settled is the state after an operation, once the pool's pods are ready or the time is
// up. That they are not is a warning: an error would have Terraform replace the pool.
func (f *Flow) settled(ctx context.Context, c Cluster, p *pass, wait time.Duration) (State, error) {
	if err := f.settle(ctx, c, p, wait); err != nil {
		return State{}, err
	}
	return f.stateOf(ctx, p, wait > 0), nil
}

// settle waits until the pool's pods are ready, for at most so long, without its lock.
func (f *Flow) settle(ctx context.Context, c Cluster, p *pass, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for wait > 0 && !p.plan.Status.Settled() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(f.pollInterval()):
		}
		seen, err := c.StockOf(ctx, p.declaration.Namespace, p.declaration.Name)
		if err != nil || !seen.Known() {
			continue
		}
		p.seen = seen
		if err := f.judge(ctx, c, p); err != nil && ctx.Err() == nil {
			return err
		}
		s := p.plan.Status
		f.Teller.Tell(p.declaration.Object(), fmt.Sprintf("%s: %d of %d pods are ready", s.Phase, s.Available+s.Allocated, s.Desired), nil)
	}
	return nil
}
