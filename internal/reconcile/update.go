package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
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
	return newPoolState(a, true), err
}

// change writes the record of a declaration; the pool's lock must be held.
func (e *Engine) change(ctx context.Context, d spotpool.Declaration) (record, error) {
	tombstone, err := e.loadTombstone(ctx, d.UID)
	if err != nil {
		return record{}, err
	}
	if tombstone.exists() {
		return record{}, fmt.Errorf("the spot pool %s (uid %s) was destroyed at %s: remove it from this state with terraform state rm, or plan again", d.Key(), d.UID, tombstone.value.DestroyedAt.Format(time.RFC3339))
	}
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
	case sameDocument(old, d):
		return r, nil
	}
	d.Generation++
	return e.saveRecord(ctx, r, declaration.Active, d)
}

// recordAnew writes a record that is missing. What its instances were launched
// with is unknown, so their configurations are accepted as they are.
func (e *Engine) recordAnew(ctx context.Context, r record, d spotpool.Declaration) (record, error) {
	if err := e.acceptObserved(ctx, d); err != nil {
		return r, err
	}
	d.Generation++
	return e.saveRecord(ctx, r, declaration.Active, d)
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
