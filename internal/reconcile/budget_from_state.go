package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// takeOverBudget brings one budget out of Terraform state into the store, where
// the store has none or an older one. A newer record wins, a tombstone refuses.
func (r *run) takeOverBudget(ctx context.Context, b declaration.StateBudget, older string) error {
	d := b.Declaration.WithDefaults()
	if err := valid(d); err != nil {
		return err
	}
	tombstone, err := r.loadTombstone(ctx, d.UID)
	if err != nil {
		return err
	}
	record, err := r.loadBudget(ctx, d.Name)
	if err != nil {
		return err
	}
	switch old := record.value.Declaration; {
	case record.exists() && old.UID != d.UID:
		return fmt.Errorf("the store %s holds another budget under the name %s (uid %s, and the state has %s)", r.Store, d.Name, old.UID, d.UID)
	case !record.exists() && tombstone.exists():
		return fmt.Errorf("this budget (uid %s) was destroyed at %s: the state is older than that", d.UID, tombstone.value.DestroyedAt.Format(time.RFC3339))
	case record.exists() && old.Generation > d.Generation:
		r.warn(fmt.Sprintf("%s: the store has a newer declaration (generation %d, and the state has %d), and it is used", b.Address, old.Generation, d.Generation))
		return nil
	case record.exists() && (old.Generation == d.Generation || record.value.Phase != declaration.Active):
		return nil
	case older != "":
		return errors.New("the store has no record of it, and " + older)
	}
	if _, err := r.clusterOf(ctx, d); err != nil {
		return err
	}
	if r.options.DryRun {
		return nil
	}
	// The state doesn't say when the limit was published: its grace begins now.
	d.PublishedAt = published()
	return r.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		_, err := r.saveBudget(ctx, record, declaration.Active, d)
		return err
	})
}

// budgetsOnlyInState lists, for a dry run, the state's budgets that the store
// would get.
func (r *run) budgetsOnlyInState(stored []budgetTarget) []budgetTarget {
	if !r.options.DryRun || r.options.State == nil {
		return nil
	}
	known := map[string]bool{}
	for _, t := range stored {
		known[t.declaration.Name] = true
	}
	for _, b := range r.report.Budgets {
		known[b.Name] = true
	}
	var targets []budgetTarget
	for _, b := range r.options.State.Budgets {
		if !known[b.Declaration.Name] {
			d := b.Declaration.WithDefaults()
			d.PublishedAt = published()
			targets = append(targets, budgetTarget{declaration: d, phase: declaration.Active})
		}
	}
	return targets
}
