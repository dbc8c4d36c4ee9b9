package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// CreateBudget declares a new budget in the cluster at hand, and gives it its
// uid. What it has used is for the next run to say.
func (e *Engine) CreateBudget(ctx context.Context, d budget.Declaration) (BudgetState, error) {
	if err := valid(d); err != nil {
		return BudgetState{}, err
	}
	cluster, uid, err := e.cluster(ctx)
	if err != nil {
		return BudgetState{}, err
	}
	d.ClusterUID, d.Generation, d.PublishedAt = uid, 1, e.publishedIn(cluster)
	err = e.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		r, err := e.loadBudget(ctx, d.Name)
		if err != nil {
			return err
		}
		if r.exists() {
			return &BudgetExistsError{Name: d.Name, What: fmt.Sprintf("the store %s has a record of it (%s, uid %s)", e.Store, r.value.Phase, r.value.Declaration.UID)}
		}
		d.UID = randomID()
		_, err = e.saveBudget(ctx, r, declaration.Active, d)
		return err
	})
	if err != nil {
		return BudgetState{}, err
	}
	return BudgetState{Declaration: d, Recorded: true}, nil
}

// UpdateBudget records a changed declaration. It carries the uid, the cluster
// and the generation that it was planned against. A budget whose record was
// lost is recorded anew. What is in force is for the next run to change.
func (e *Engine) UpdateBudget(ctx context.Context, d budget.Declaration) (BudgetState, error) {
	if err := valid(d); err != nil {
		return BudgetState{}, err
	}
	cluster, err := e.clusterOf(ctx, d)
	if err != nil {
		return BudgetState{}, err
	}
	err = e.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		tombstone, err := e.loadTombstone(ctx, d.UID)
		if err != nil {
			return err
		}
		if tombstone.exists() {
			return fmt.Errorf("the budget %s (uid %s) was destroyed at %s: remove it from this state with terraform state rm, or plan again", d.Name, d.UID, tombstone.value.DestroyedAt.Format(time.RFC3339))
		}
		r, err := e.loadBudget(ctx, d.Name)
		if err != nil {
			return err
		}
		d, err = e.changedBudget(r, d, e.publishedIn(cluster))
		if err != nil || r.exists() && r.value.Declaration.Generation == d.Generation {
			return err
		}
		_, err = e.saveBudget(ctx, r, declaration.Active, d)
		return err
	})
	if err != nil {
		return BudgetState{}, err
	}
	return e.ViewBudget(ctx, d)
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

// changedBudget is what to record of a changed declaration.
func (e *Engine) changedBudget(r budgetRecord, d budget.Declaration, now time.Time) (budget.Declaration, error) {
	old := r.value.Declaration
	switch {
	case !r.exists():
		d.PublishedAt = now
	case old.UID != d.UID:
		return d, e.anotherBudget(d, old.UID, "Give this budget another name, or use the store that it was created with")
	case r.value.Phase == declaration.Deleting:
		return d, errors.New(unfinishedDeletion(d))
	case old.Generation != d.Generation:
		return d, fmt.Errorf("the declaration of the budget %s changed since this plan was made (generation %d, and the plan saw %d): plan again", d.Name, old.Generation, d.Generation)
	default:
		d.PublishedAt = old.PublishedAt
		if sameDocument(old, d) {
			return old, nil
		}
		if !sameDocument(judged(old), judged(d)) {
			d.PublishedAt = now
		}
	}
	d.Generation++
	return d, nil
}

// anotherBudget says that the store has another budget of the same name.
func (e *Engine) anotherBudget(d budget.Declaration, uid, advice string) error {
	return fmt.Errorf("the store %s holds another budget under the name %s (uid %s, and this one is %s): nothing was touched. %s", e.Store, d.Name, uid, d.UID, advice)
}

func unfinishedDeletion(d budget.Declaration) string {
	return fmt.Sprintf("the deletion of the budget %s was begun and not finished: finish it with terraform destroy or gpupool reconcile", d.Name)
}

// judged is the part of a declaration that decides whether it is exceeded, and
// what comes of it. A change of it is a new limit: its grace begins anew.
func judged(d budget.Declaration) budget.Declaration {
	d.Thresholds, d.BreakdownLabels, d.MaxStatusAge, d.Generation = nil, nil, "", 0
	return d
}

// publishedIn is now, by the cluster's clock where it was heard: graces are
// measured by that.
func (e *Engine) publishedIn(c Cluster) time.Time {
	at := c.Now()
	if at.IsZero() {
		at = e.now()
	}
	return at.UTC().Truncate(time.Second)
}

// DeleteBudget ends a budget for good: it lifts the budget's freeze and resumes
// what it paused, leaves a tombstone, and removes the record. A deletion that
// was cut short is finished by the next one, or by a run. The strings say what
// could not be undone because someone else changed it since.
func (e *Engine) DeleteBudget(ctx context.Context, d budget.Declaration) (notices []string, err error) {
	cluster, err := e.clusterOf(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("%s is not destroyed, since what it enforces can't be undone: %w", d.Object(), err)
	}
	err = e.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		r, err := e.loadBudget(ctx, d.Name)
		if err != nil {
			return err
		}
		if r.exists() && r.value.Declaration.UID != d.UID {
			return e.anotherBudget(d, r.value.Declaration.UID, "Use the store that this budget was created with")
		}
		if !r.exists() || r.value.Phase != declaration.Deleting {
			if r, err = e.saveBudget(ctx, r, declaration.Deleting, d); err != nil {
				return err
			}
		}
		notices, err = e.buryBudget(ctx, cluster, r)
		return err
	})
	return notices, err
}

// buryBudget undoes what a budget enforces, and removes what is recorded of it.
// One that only ever alerted needs no right to do so. The budget's lock must
// be held.
func (e *Engine) buryBudget(ctx context.Context, c Cluster, r budgetRecord) ([]string, error) {
	d := r.value.Declaration
	status, known, err := e.loadBudgetStatus(ctx, d)
	onlyAlerts := err == nil && d.Enforce.Action == budget.AlertOnly && (!known || len(status.value.Enforced) == 0)
	notices, err := e.release(ctx, c, d, status.value)
	if onlyAlerts && isForbidden(err) {
		err = nil
	}
	if err != nil {
		return notices, fmt.Errorf("%s is not destroyed yet, since what it enforces could not be undone: %w", d.Object(), err)
	}
	tombstone, err := e.loadTombstone(ctx, d.UID)
	if err != nil {
		return notices, err
	}
	if !tombstone.exists() {
		if _, err := save(ctx, e.Store, store.Tombstones, d.UID, tombstone, declaration.BuryBudget(d, e.now().UTC().Truncate(time.Second))); err != nil {
			return notices, err
		}
	}
	doc, err := e.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: budgetStatusName(d.Name)})
	if err == nil {
		err = remove(ctx, e.Store, store.Statuses, doc.Key.Name, doc.Revision)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return notices, err
	}
	return notices, remove(ctx, e.Store, store.Budgets, d.Name, r.revision)
}

// FindBudget finds a budget for an import, by its name in the store.
func (e *Engine) FindBudget(ctx context.Context, name string) (budget.Declaration, error) {
	r, err := e.loadBudget(ctx, name)
	if err == nil && !r.exists() {
		err = &NoBudgetError{Name: name, Store: e.Store.String(), Known: e.budgetNames(ctx)}
	}
	return r.value.Declaration, err
}

// NoBudgetError says that the store has no budget of a name.
type NoBudgetError struct {
	Name, Store string
	Known       []string // the names of those that it has
}

// Error names the budget, the store, and what there is instead.
func (e *NoBudgetError) Error() string {
	text := fmt.Sprintf("the store %s has no budget %q", e.Store, e.Name)
	if len(e.Known) == 0 {
		return text + ", nor any other: use the store that it was declared in"
	}
	return text + "; it has " + strings.Join(e.Known, ", ")
}

func (e *Engine) budgetNames(ctx context.Context) []string {
	docs, err := e.Store.List(ctx, store.Budgets)
	if err != nil {
		return nil
	}
	names := make([]string, len(docs))
	for n, doc := range docs {
		names[n] = doc.Key.Name
	}
	return names
}
