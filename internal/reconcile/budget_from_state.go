package reconcile

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// takeOverBudget brings one budget out of Terraform state into the store, where
// the store has none or an older one. A newer record wins, a tombstone refuses.
func (r *run) takeOverBudget(ctx context.Context, b declaration.StateBudget, older string) error {
	d := b.Declaration.WithDefaults()
	if err := valid(d); err != nil {
		return err
	}
	record, err := r.loadBudget(ctx, d.Name)
	if err != nil {
		return r.untold(ctx, store.Budgets, d.Name, isRecord[declaration.Budget], err)
	}
	old := record.value.Declaration
	stated := claim{address: b.Address, what: "budget", name: d.Name, uid: d.UID, generation: d.Generation, older: older}
	if wins, err := r.overrules(ctx, stated, standing{uid: old.UID, generation: old.Generation, phase: record.value.Phase}); err != nil || !wins {
		return err
	}
	cluster, err := r.clusterOf(ctx, d)
	if err != nil {
		return err
	}
	// The state doesn't say when the limit was published: a new one's grace begins now.
	d.PublishedAt = old.PublishedAt
	if !record.exists() || !sameDocument(judged(old), judged(d)) {
		d.PublishedAt = r.publishedIn(cluster)
	}
	return r.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		_, err := r.saveBudget(ctx, record, declaration.Active, d)
		return err
	})
}
