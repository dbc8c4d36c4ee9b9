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

// CreatePool declares a new pool and raises it to its minimum. It waits for its
// instances for at most wait; a shortfall at the end is a warning in the state.
// An error means that nothing was launched: an error after a launch would have
// Terraform destroy the pool.
//
// A creation that was killed is resumed by the next one, with the same uid.
func (e *Engine) CreatePool(ctx context.Context, d spotpool.Declaration, wait time.Duration) (PoolState, error) {
	account, err := e.Cloud.AccountID(ctx)
	if err != nil {
		return PoolState{}, err
	}
	d.AccountID, d.Generation = account, 1
	a := &attempt{gate: e.gate(ctx, d)}
	// The creator's lock tells a creation under way from one that was killed;
	// the pool's own lock is free while instances settle.
	err = e.withNamedLock(ctx, createLockName(d.Key()), 0, func(ctx context.Context) error {
		return e.create(ctx, a, d, wait)
	})
	if isLocked(err) && a.declaration.UID == "" {
		return PoolState{}, &ExistsError{Region: d.Region, Name: d.Name, What: "it is being created right now, " + err.Error()}
	}
	if err != nil {
		return PoolState{}, err
	}
	return newPoolState(a), nil
}

func (e *Engine) create(ctx context.Context, a *attempt, d spotpool.Declaration, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	err := e.withLock(ctx, d.Key(), func(ctx context.Context) error {
		r, err := e.claim(ctx, d)
		if err != nil {
			return err
		}
		a.declaration = r.value.Declaration
		return e.act(ctx, a)
	})
	if a.declaration.UID == "" {
		return err
	}
	if err == nil {
		err = e.settle(ctx, a, time.Until(deadline))
	}
	return e.finishCreate(ctx, a, errors.Join(err, a.failure))
}

// claim writes the record of a new pool, or takes over that of a creation that
// was killed.
func (e *Engine) claim(ctx context.Context, d spotpool.Declaration) (record, error) {
	r, err := e.loadRecord(ctx, d.Key())
	if err != nil {
		return r, err
	}
	if r.exists() {
		old := r.value.Declaration
		if r.value.Phase != declaration.Creating {
			return r, e.recorded(r)
		}
		if old.AccountID != d.AccountID {
			return r, &AccountError{Object: d.Object(), Pool: old.AccountID, Credentials: d.AccountID}
		}
		d.UID = old.UID
		return e.saveRecord(ctx, r, declaration.Creating, d)
	}
	found, _, err := e.Cloud.ObserveNamed(ctx, d.Region, d.Name)
	if err != nil {
		return r, fmt.Errorf("looking for instances of an earlier pool %s: %w", d.Key(), err)
	}
	if err := taken(d, found); err != nil {
		return r, err
	}
	d.UID = randomID()
	return e.saveRecord(ctx, r, declaration.Creating, d)
}

// recorded says that the store has a record of a pool.
func (e *Engine) recorded(r record) *ExistsError {
	d := r.value.Declaration
	return &ExistsError{Region: d.Region, Name: d.Name, What: fmt.Sprintf("the store %s has a record of it (%s, uid %s)", e.Store, r.value.Phase, d.UID)}
}

// taken says that machines with the pool's name are there.
func taken(d spotpool.Declaration, named []spotpool.Instance) error {
	for _, i := range named {
		if i.State != spotpool.StateTerminating && i.State != spotpool.StateLaunchFailed {
			return &ExistsError{Region: d.Region, Name: d.Name, What: fmt.Sprintf("%d instances carry its tag, %s among them", len(named), i.ID)}
		}
	}
	return nil
}

// finishCreate marks the record active. Where cause is not nil, the creation fails
// with it if nothing was launched, and takes the record back. It fails too where
// the pool could not be looked at even once: then it stays to be resumed.
func (e *Engine) finishCreate(ctx context.Context, a *attempt, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordGrace)
	defer cancel()
	d := a.declaration
	return e.withLock(ctx, d.Key(), func(ctx context.Context) error {
		r, err := e.loadRecord(ctx, d.Key())
		if err != nil {
			return errors.Join(cause, err)
		}
		j, err := e.loadJournal(ctx, d)
		if err != nil {
			return errors.Join(cause, err)
		}
		if cause != nil && len(j.value.Known) == 0 && len(j.value.Intents) == 0 {
			err := remove(ctx, e.Store, store.Journals, journalName(d), j.revision)
			return errors.Join(cause, err, remove(ctx, e.Store, store.SpotPools, d.Key(), r.revision))
		}
		if a.latest == nil {
			return fmt.Errorf("%s was begun before, and its machines can't be looked at now; apply again to go on: %w", d.Object(), cause)
		}
		if cause != nil && a.failure == nil {
			a.failure = cause
		}
		a.latest.plan.Journal = j.value
		_, err = e.saveRecord(ctx, r, declaration.Active, d)
		return err
	})
}
