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
	cluster, err := r.clusterOf(ctx, d)
	if err != nil {
		return err
	}
	// The state doesn't say when the limit was published: a new one's grace begins now.
	d.PublishedAt = record.value.Declaration.PublishedAt
	if !record.exists() || !sameDocument(judged(record.value.Declaration), judged(d)) {
		d.PublishedAt = publishedIn(cluster)
	}
	return r.withBudgetLock(ctx, d.Name, func(ctx context.Context) error {
		_, err := r.saveBudget(ctx, record, declaration.Active, d)
		return err
	})
}
