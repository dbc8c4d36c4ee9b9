package spotpools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
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
	of, at, uid := reason.Object(d.Object()), reason.Instant{Time: t.Value.DestroyedAt.UTC()}, reason.Word(d.UID)
	if again.Exists() { // an import would take the new pool
		r.kind.warnings.Warn(reason.InstancesRemainOther(of, at, left, uid))
	} else {
		r.kind.warnings.Warn(reason.InstancesRemainImport(of, at, left, uid, reason.Word(d.Key())))
	}
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
