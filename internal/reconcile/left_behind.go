package reconcile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// watchedFor is how long after a pool's destruction, and after machines of it were
// last seen, runs look for machines that carry its uid.
const watchedFor = 24 * time.Hour

// leftOf lists the instances of a pool that nobody keeps any more, those aside that
// are on their way out.
func (e *Engine) leftOf(ctx context.Context, d spotpool.Declaration) ([]string, error) {
	found, _, err := e.Cloud.ObservePool(ctx, d.Region, d.UID, nil)
	if err != nil {
		return nil, fmt.Errorf("looking for what is left of the destroyed pool %s: %w", d.Key(), err)
	}
	var left []string
	for _, i := range found {
		if i.PoolUID == d.UID && i.State != spotpool.StateTerminating && i.State != spotpool.StateLaunchFailed {
			left = append(left, i.ID)
		}
	}
	return left, nil
}

// leftWarning tells of machines of a destroyed pool.
func leftWarning(d spotpool.Declaration, destroyed time.Time, left []string, remedy string) string {
	return fmt.Sprintf("%s was destroyed at %s, and %d instances still carry its uid %s and cost money: %s. %s, or take the tag gpupool/uid off them",
		d.Object(), destroyed.UTC().Format(time.RFC3339), len(left), d.UID, strings.Join(left, ", "), remedy)
}

// lookAfterTombstones removes tombstones whose time is over, and looks whether
// machines of pools that were destroyed lately are there after all.
func (r *run) lookAfterTombstones(ctx context.Context) {
	docs, err := r.Store.List(ctx, store.Tombstones)
	if err != nil {
		r.warn(err.Error())
		return
	}
	for _, doc := range docs {
		tombstone, err := decodeListed[declaration.Tombstone](ctx, r.Store, doc)
		if err == nil && tombstone.Expired(time.Now()) {
			err = remove(ctx, r.Store, store.Tombstones, doc.Key.Name, doc.Revision)
		} else if err == nil {
			err = r.lookForLeft(ctx, held[declaration.Tombstone]{value: tombstone, revision: doc.Revision})
		}
		if err != nil {
			r.warn(err.Error())
		}
	}
}

// lookForLeft looks for machines of one destroyed pool, and notes when some were
// seen. A pool whose record is there is looked after by that.
func (r *run) lookForLeft(ctx context.Context, t held[declaration.Tombstone]) error {
	d, isPool := poolOf(t.value)
	last := t.value.DestroyedAt
	if t.value.LeftAt.After(last) {
		last = t.value.LeftAt
	}
	if !isPool || r.now().Sub(last) > watchedFor || r.pools[d.UID] {
		return nil
	}
	account, err := r.Cloud.AccountID(ctx)
	if err != nil || account != d.AccountID {
		return err
	}
	left, err := r.leftOf(ctx, d)
	if err != nil || len(left) == 0 {
		return err
	}
	again, err := r.loadRecord(ctx, d.Key())
	if err != nil {
		return err
	}
	remedy := fmt.Sprintf("Import it (terraform import ADDRESS %s), and destroy it again or go on with it", d.Key())
	if again.exists() { // an import would take the new pool
		remedy = fmt.Sprintf("The pool that %s is now is another one, and must not be destroyed for them: terminate them in the cloud's console", d.Key())
	}
	r.warn(leftWarning(d, t.value.DestroyedAt, left, remedy))
	t.value.LeftAt = r.now().UTC().Truncate(time.Second)
	_, err = save(ctx, r.Store, store.Tombstones, d.UID, t, t.value)
	return err
}

// poolOf is what a tombstone tells of the pool under it; false for anything else.
func poolOf(t declaration.Tombstone) (spotpool.Declaration, bool) {
	key, isPool := strings.CutPrefix(t.Object, "spot_pool/")
	region, name, ok := splitKey(key)
	return spotpool.Declaration{Region: region, Name: name, UID: t.UID, AccountID: t.AccountID}, isPool && ok
}
