package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// UpdatePool records a changed declaration and brings the pool to it: launches,
// scale-in, and one batch of a refresh. The declaration carries the uid, the
// account and the generation that it was planned against. A pool whose record
// was lost is recorded anew.
func (e *Engine) UpdatePool(ctx context.Context, d spotpool.Declaration, wait time.Duration) (PoolState, error) {
	a := &attempt{gate: e.gate(ctx, d)}
	deadline := time.Now().Add(wait)
	err := e.withLock(ctx, d.Key(), func(ctx context.Context) error {
		r, err := e.change(ctx, d)
		if err != nil {
			return err
		}
		a.declaration = r.value.Declaration
		return e.act(ctx, a)
	})
	if err == nil {
		err = e.settle(ctx, a, time.Until(deadline))
	}
	if a.declaration.UID == "" {
		return PoolState{}, err
	}
	if err == nil && a.failure != nil && !a.uncertain && !errors.Is(a.failure, errNotYet) {
		err = a.failure
	}
	return newPoolState(a), err
}

// change writes the record of a declaration; the pool's lock must be held.
func (e *Engine) change(ctx context.Context, d spotpool.Declaration) (record, error) {
	account, err := e.Cloud.AccountID(ctx)
	if err != nil {
		return record{}, err
	}
	if account != d.AccountID {
		return record{}, &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: account}
	}
	r, err := e.loadRecord(ctx, d.Key())
	if err != nil {
		return r, err
	}
	if !r.exists() {
		return e.recordAnew(ctx, r, d)
	}
	old := r.value.Declaration
	switch {
	case old.UID != d.UID:
		return r, fmt.Errorf("the store %s holds another pool under the name %s (uid %s, and this one is %s): nothing was touched. Give this pool another name, or use the store that it was created with", e.Store, d.Key(), old.UID, d.UID)
	case r.value.Phase == declaration.Deleting:
		return r, fmt.Errorf("the deletion of %s was begun and not finished: finish it with terraform destroy or gpupool reconcile", d.Key())
	case old.Generation != d.Generation:
		return r, fmt.Errorf("the declaration of %s changed since this plan was made (generation %d, and the plan saw %d): plan again", d.Key(), old.Generation, d.Generation)
	case sameDocument(old, d) && r.value.Phase == declaration.Active:
		return r, nil
	case sameDocument(old, d):
		return e.takeUp(ctx, r, d)
	}
	d.Generation++
	if r.value.Phase == declaration.Creating {
		return e.takeUp(ctx, r, d)
	}
	return e.saveRecord(ctx, r, declaration.Active, d)
}

// takeUp makes the record of a creation that was killed, and whose pool was
// imported since, that of an active pool. A creation under way is left alone.
func (e *Engine) takeUp(ctx context.Context, r record, d spotpool.Declaration) (record, error) {
	var saved record
	err := e.withNamedLock(ctx, createLockName(d.Key()), 0, func(ctx context.Context) (err error) {
		saved, err = e.saveRecord(ctx, r, declaration.Active, d)
		return err
	})
	if isLocked(err) {
		return r, fmt.Errorf("%s is being created right now: apply again once that is finished (%w)", d.Object(), err)
	}
	return saved, err
}

// recordAnew writes a record that is missing. What its instances were launched
// with is unknown, so their configurations are accepted as they are. A pool that
// was destroyed stays so, unless machines of it are there after all.
func (e *Engine) recordAnew(ctx context.Context, r record, d spotpool.Declaration) (record, error) {
	tombstone, err := e.loadTombstone(ctx, d.UID)
	if err != nil {
		return r, err
	}
	if tombstone.exists() {
		left, err := e.leftOf(ctx, d)
		if err != nil {
			return r, err
		}
		if len(left) == 0 {
			return r, fmt.Errorf("the spot pool %s (uid %s) was destroyed at %s: remove it from this state with terraform state rm, or plan again", d.Key(), d.UID, tombstone.value.DestroyedAt.Format(time.RFC3339))
		}
	}
	if err := e.acceptObserved(ctx, d); err != nil {
		return r, err
	}
	d.Generation++
	saved, err := e.saveRecord(ctx, r, declaration.Active, d)
	if err == nil && tombstone.exists() {
		err = remove(ctx, e.Store, store.Tombstones, d.UID, tombstone.revision)
	}
	return saved, err
}

// acceptObserved accepts the configurations of a pool's instances as they are.
func (e *Engine) acceptObserved(ctx context.Context, d spotpool.Declaration) error {
	observation, err := e.observePool(ctx, d, spotpool.Journal{}, nil)
	if err != nil {
		return err
	}
	var tags []string
	for _, i := range spotpool.Own(d, observation) {
		tags = append(tags, i.ConfigurationTag)
	}
	j, err := e.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	_, err = e.saveJournal(ctx, d, j, j.value.Accepting(tags))
	return err
}
