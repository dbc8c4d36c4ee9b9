package spotpools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// watchedFor is how long runs look for machines of a destroyed pool: from its
// destruction, or from when such machines were last seen.
const watchedFor = 24 * time.Hour

// leftOf lists the instances that carry the uid of a destroyed pool, without those
// that end already.
func (o *cloudObserver) leftOf(ctx context.Context, d spotpool.Declaration) ([]string, error) {
	found, _, err := o.Cloud.ObservePool(ctx, d.Region, d.UID, nil)
	if err != nil {
		return nil, fmt.Errorf("looking for what is left of the destroyed pool %s: %w", d.Key(), err)
	}
	var left []string
	for _, i := range found {
		if i.PoolUID == d.UID && !i.State.Ending() {
			left = append(left, i.ID)
		}
	}
	return left, nil
}

// leftWarning warns of machines of a destroyed pool.
func leftWarning(d spotpool.Declaration, destroyed time.Time, left []string, remedy string) string {
	return fmt.Sprintf("%s was destroyed at %s, and %d instances still carry its uid %s and cost money: %s. %s, or take the tag gpupool/uid off them",
		d.Object(), destroyed.UTC().Format(time.RFC3339), len(left), d.UID, strings.Join(left, ", "), remedy)
}

// LookForLeft looks for machines of a pool that was destroyed lately, and notes when it
// found some; of another kind's tombstone it takes no notice. Where the store has a
// record of the pool again, that is looked after instead.
func (r *Run) LookForLeft(ctx context.Context, t record.Document[declaration.Tombstone]) error {
	d, isPool := poolOf(t.Value)
	last := t.Value.DestroyedAt
	if t.Value.LeftAt.After(last) {
		last = t.Value.LeftAt
	}
	if !isPool || r.kind.flow.now().Sub(last) > watchedFor || r.Recorded(d.UID) {
		return nil
	}
	account, err := r.kind.flow.Cloud.AccountID(ctx)
	if err != nil || account != d.AccountID {
		return err
	}
	left, err := r.kind.flow.leftOf(ctx, d)
	if err != nil || len(left) == 0 {
		return err
	}
	again, err := r.kind.flow.records().Load(ctx, d.Key())
	if err != nil {
		return err
	}
	remedy := fmt.Sprintf("Import it (terraform import ADDRESS %s), and destroy it again or go on with it", d.Key())
	if again.Exists() { // an import would take the new pool
		remedy = fmt.Sprintf("The pool that %s is now is another one, and must not be destroyed for them: terminate them in the cloud's console", d.Key())
	}
	r.kind.warnings.Add(leftWarning(d, t.Value.DestroyedAt, left, remedy))
	t.Value.LeftAt = r.kind.flow.now().UTC().Truncate(time.Second)
	_, err = record.Save(ctx, r.kind.flow.Repository.Store, store.Tombstones, d.UID, t, t.Value)
	return err
}

// poolOf is the pool that a tombstone is of, as far as the tombstone tells; false for
// another kind.
func poolOf(t declaration.Tombstone) (spotpool.Declaration, bool) {
	key, isPool := strings.CutPrefix(t.Object, "spot_pool/")
	region, name, ok := splitKey(key)
	return spotpool.Declaration{Region: region, Name: name, UID: t.UID, AccountID: t.AccountID}, isPool && ok
}
