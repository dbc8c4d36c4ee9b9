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
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// searchFor is for how long runs search for instances of a destroyed pool, after its
// destruction or the last find.
const searchFor = 24 * time.Hour

// remainingInstances returns the instances with the UID of a destroyed pool that are not terminating.
func (o *cloudObserver) remainingInstances(ctx context.Context, d spotpool.Declaration) ([]string, error) {
	found, _, err := o.Cloud.ObservePool(ctx, d.Region, d.UID, nil)
	if err != nil {
		return nil, fmt.Errorf("reading instances of the destroyed pool %s: %w", d.Key(), err)
	}
	var left []string
	for _, i := range found {
		if i.PoolUID == d.UID && !i.State.Ending() {
			left = append(left, i.ID)
		}
	}
	return left, nil
}

// remainingWarning warns of instances of a destroyed pool.
func remainingWarning(d spotpool.Declaration, destroyed time.Time, left []string, remedy string) string {
	return fmt.Sprintf("%s was destroyed at %s, and %s still %s its uid %s and %s money: %s. %s, or remove the tag gpupool/uid from %s",
		d.Object(), destroyed.UTC().Format(time.RFC3339), wording.Count(len(left), "instance"), wording.Have(len(left)), d.UID,
		wording.Plural(len(left), "costs", "cost"), strings.Join(left, ", "), remedy, wording.Plural(len(left), "it", "them"))
}

// FindRemaining searches for instances of a recently destroyed pool, and records when it found
// some. It ignores tombstones of other kinds, and of pools that have a record again.
func (r *Run) FindRemaining(ctx context.Context, t record.Document[declaration.Tombstone]) error {
	d, isPool := tombstonePool(t.Value)
	last := t.Value.DestroyedAt
	if t.Value.LeftAt.After(last) {
		last = t.Value.LeftAt
	}
	if !isPool || r.kind.flow.now().Sub(last) > searchFor || r.Recorded(d.UID) {
		return nil
	}
	account, err := r.kind.flow.Cloud.Account(ctx)
	if err != nil || account.ID != d.AccountID {
		return err
	}
	left, err := r.kind.flow.remainingInstances(ctx, d)
	if err != nil || len(left) == 0 {
		return err
	}
	again, err := r.kind.flow.records().Load(ctx, d.Key())
	if err != nil {
		return err
	}
	remedy := fmt.Sprintf("Import it (terraform import ADDRESS %s), and keep or destroy it", d.Key())
	if again.Exists() { // an import would take the new pool
		remedy = fmt.Sprintf("%s is another pool now, so do not destroy it for them: terminate them in the console", d.Key())
	}
	r.kind.warnings.Add(remainingWarning(d, t.Value.DestroyedAt, left, remedy))
	t.Value.LeftAt = r.kind.flow.now().UTC().Truncate(time.Second)
	_, err = record.Save(ctx, r.kind.flow.Repository.Store, store.Tombstones, d.UID, t, t.Value)
	return err
}

// tombstonePool returns the identity of the pool of a tombstone; false for another kind.
func tombstonePool(t declaration.Tombstone) (spotpool.Declaration, bool) {
	key, isPool := strings.CutPrefix(t.Object, "spot_pool/")
	region, name, ok := splitKey(key)
	return spotpool.Declaration{Region: region, Name: name, UID: t.UID, AccountID: t.AccountID}, isPool && ok
}
