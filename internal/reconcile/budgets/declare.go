package budgets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Create declares a new budget in the cluster, with a new UID. The next run measures its usage.
func (f *Flow) Create(ctx context.Context, d budget.Declaration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	cluster, uid, err := f.cluster(ctx)
	if err != nil {
		return State{}, err
	}
	d.ClusterUID, d.Generation, d.PublishedAt = uid, 1, publishedIn(cluster, f.now())
	defer f.report(ctx)
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Load(ctx, d.Name)
		if err != nil {
			return err
		}
		if r.Exists() {
			return f.records().ErrTaken(r)
		}
		d.UID = record.NewID()
		_, err = f.records().Save(ctx, r, declaration.Active, d)
		if err == nil {
			f.note(f.about(d).Declaration(history.Create))
		}
		return err
	})
	if err != nil {
		return State{}, err
	}
	return State{Declaration: d, Recorded: true}, nil
}

// Refusal returns why Create would refuse a budget: its name is taken.
func (f *Flow) Refusal(ctx context.Context, d budget.Declaration) error {
	r, err := f.records().Load(ctx, d.Name)
	if err == nil && r.Exists() {
		return f.records().ErrTaken(r)
	}
	return err
}

// Update records a changed declaration, with the UID, the cluster and the generation that it was
// planned against. If the record was lost, it creates one. The next run changes what is in force.
func (f *Flow) Update(ctx context.Context, d budget.Declaration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	cluster, err := f.clusterOf(ctx, d)
	if err != nil {
		return State{}, err
	}
	defer f.report(ctx)
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		if err := f.records().CheckNotDestroyed(ctx, d); err != nil {
			return err
		}
		r, err := f.records().Load(ctx, d.Name)
		if err != nil {
			return err
		}
		next, differs, err := changed(f.records(), r, d, publishedIn(cluster, f.now()))
		if err != nil || !differs {
			return err
		}
		d = next
		_, err = f.records().Save(ctx, r, declaration.Active, d)
		if err == nil {
			f.note(f.about(d).Updated(d.Generation))
		}
		return err
	})
	if err != nil {
		return State{}, err
	}
	return f.View(ctx, d)
}

func valid(d budget.Declaration) error {
	var problems []error
	for _, p := range d.Validate(time.LoadLocation) {
		problems = append(problems, errors.New(p.String()))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("budget/%s: the declaration is invalid, and nothing was changed: %w", d.Name, errors.Join(problems...))
}

// changed returns the declaration to record, and whether it differs from the record.
func changed(
	life record.Lifecycle[budget.Declaration], r record.Stored[budget.Declaration], d budget.Declaration, now time.Time,
) (budget.Declaration, bool, error) {
	if !r.Exists() {
		d.PublishedAt = now
		return d.WithIdentity(d.UID, d.Generation+1), true, nil
	}
	d.PublishedAt = published(r, d, now)
	return life.Change(r, d)
}

// published returns when the limit of a declaration was published: now if it is a new one.
func published(r record.Stored[budget.Declaration], d budget.Declaration, now time.Time) time.Time {
	old := r.Value.Declaration
	d.PublishedAt = old.PublishedAt
	if r.Exists() && record.Same(limited(old), limited(d)) {
		return old.PublishedAt
	}
	return now
}

// limited returns the part of a declaration that decides about exceeding and enforcement. A change of
// it is a new limit with a new grace period.
func limited(d budget.Declaration) budget.Declaration {
	d.Thresholds, d.BreakdownLabels, d.MaxStatusAge, d.ManagedBy, d.Generation = nil, nil, "", "", 0
	return d
}

// publishedIn returns the present time, by the cluster's clock if known: it measures grace periods.
func publishedIn(c Cluster, now time.Time) time.Time {
	if at := c.Now(); !at.IsZero() {
		now = at
	}
	return now.UTC().Truncate(time.Second)
}

// Find finds a budget for an import, by its name in the store.
func (f *Flow) Find(ctx context.Context, name string) (budget.Declaration, error) {
	r, err := f.records().Find(ctx, name)
	return r.Value.Declaration, err
}
