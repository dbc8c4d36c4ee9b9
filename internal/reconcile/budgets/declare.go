package budgets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Create declares a new budget in the cluster at hand, and gives it its
// uid. What it has used is for the next run to say.
func (f *Flow) Create(ctx context.Context, d budget.Declaration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	cluster, uid, err := f.cluster(ctx)
	if err != nil {
		return State{}, err
	}
	d.ClusterUID, d.Generation, d.PublishedAt = uid, 1, f.publishedIn(cluster)
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Load(ctx, d.Name)
		if err != nil {
			return err
		}
		if r.Exists() {
			return f.records().Taken(r)
		}
		d.UID = record.NewID()
		_, err = f.records().Save(ctx, r, declaration.Active, d)
		return err
	})
	if err != nil {
		return State{}, err
	}
	return State{Declaration: d, Recorded: true}, nil
}

// Update records a changed declaration. It carries the uid, the cluster
// and the generation that it was planned against. A budget whose record was
// lost is recorded anew. What is in force is for the next run to change.
func (f *Flow) Update(ctx context.Context, d budget.Declaration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	cluster, err := f.clusterOf(ctx, d)
	if err != nil {
		return State{}, err
	}
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		tombstone, err := f.Keeper.Tombstone(ctx, d.UID)
		if err != nil {
			return err
		}
		if tombstone.Exists() {
			return f.records().Destroyed(d, tombstone.Value.DestroyedAt)
		}
		r, err := f.records().Load(ctx, d.Name)
		if err != nil {
			return err
		}
		changed, differs, err := f.changed(r, d, f.publishedIn(cluster))
		if err != nil || !differs {
			return err
		}
		d = changed
		_, err = f.records().Save(ctx, r, declaration.Active, d)
		return err
	})
	if err != nil {
		return State{}, err
	}
	return f.View(ctx, d)
}

// valid says what is wrong with a declaration.
func valid(d budget.Declaration) error {
	var problems []error
	for _, p := range d.Validate() {
		problems = append(problems, errors.New(p.String()))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("the declaration of the budget %s can't be used, and nothing was changed: %w", d.Name, errors.Join(problems...))
}

// changed is what to record of a changed declaration, and whether it differs from
// what is recorded.
func (f *Flow) changed(r record.Stored[budget.Declaration], d budget.Declaration, now time.Time) (budget.Declaration, bool, error) {
	if !r.Exists() {
		d.PublishedAt = now
		return d.Identified(d.UID, d.Generation+1), true, nil
	}
	d.PublishedAt = published(r, d, now)
	return f.records().Change(r, d)
}

// published is when the limit of a declaration was published: now, where it is a
// new one.
func published(r record.Stored[budget.Declaration], d budget.Declaration, now time.Time) time.Time {
	old := r.Value.Declaration
	d.PublishedAt = old.PublishedAt
	if r.Exists() && record.Same(judged(old), judged(d)) {
		return old.PublishedAt
	}
	return now
}

// judged is the part of a declaration that decides whether it is exceeded, and
// what comes of it. A change of it is a new limit: its grace begins anew.
func judged(d budget.Declaration) budget.Declaration {
	d.Thresholds, d.BreakdownLabels, d.MaxStatusAge, d.Generation = nil, nil, "", 0
	return d
}

// publishedIn is now, by the cluster's clock where it was heard: graces are
// measured by that.
func (f *Flow) publishedIn(c Cluster) time.Time {
	at := c.Now()
	if at.IsZero() {
		at = f.now()
	}
	return at.UTC().Truncate(time.Second)
}

// Delete ends a budget for good: it lifts the budget's freeze and resumes
// what it paused, leaves a tombstone, and removes the record. A deletion that
// was cut short is finished by the next one, or by a run. The strings say what
// could not be undone because someone else changed it since.
func (f *Flow) Delete(ctx context.Context, d budget.Declaration) (notices []string, err error) {
	cluster, err := f.clusterOf(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("%s is not destroyed, since what it enforces can't be undone: %w", d.Object(), err)
	}
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Own(ctx, d)
		if err != nil {
			return err
		}
		if r, err = f.records().BeginDeletion(ctx, r, d); err != nil {
			return err
		}
		notices, err = f.clear(ctx, cluster, r)
		return err
	})
	return notices, err
}

// clear undoes what a budget enforces, and removes what is recorded of it.
// One that only ever alerted needs no right to do so. The budget's lock must
// be held.
func (f *Flow) clear(ctx context.Context, c Cluster, r record.Stored[budget.Declaration]) ([]string, error) {
	d := r.Value.Declaration
	status, known, err := f.Keeper.BudgetStatus(ctx, d)
	onlyAlerts := err == nil && d.Enforce.Action == budget.AlertOnly && (!known || len(status.Value.Enforced) == 0)
	notices, err := f.release(ctx, c, d, status.Value)
	if onlyAlerts && isForbidden(err) {
		err = nil
	}
	if err != nil {
		return notices, fmt.Errorf("%s is not destroyed yet, since what it enforces could not be undone: %w", d.Object(), err)
	}
	if err := f.records().WriteTombstone(ctx, d, f.now()); err != nil {
		return notices, err
	}
	doc, err := f.Keeper.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: record.BudgetStatusName(d.Name)})
	if err == nil {
		err = record.Remove(ctx, f.Keeper.Store, store.Statuses, doc.Key.Name, doc.Revision)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return notices, err
	}
	return notices, f.records().Remove(ctx, r)
}

// Find finds a budget for an import, by its name in the store.
func (f *Flow) Find(ctx context.Context, name string) (budget.Declaration, error) {
	r, err := f.records().Find(ctx, name)
	return r.Value.Declaration, err
}
