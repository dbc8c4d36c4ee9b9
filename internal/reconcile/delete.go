package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// The tags that make an instance a pool's.
var ownershipTags = []string{"gpupool/uid", "gpupool/pool", "gpupool/seq", "gpupool/config"}

// DeletePool ends a pool for good: tombstone, terminate (or untag), wait until
// nothing is left, remove the record. A deletion that was killed is finished by
// the next one, or by a run.
func (e *Engine) DeletePool(ctx context.Context, d spotpool.Declaration, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	err := e.withLock(ctx, d.Key(), func(ctx context.Context) error { return e.condemn(ctx, d) })
	if err != nil {
		return err
	}
	_, err = e.finishDelete(ctx, d, time.Until(deadline))
	return err
}

// condemn checks that the pool may go, and writes down that it does: first the
// record, so that a run can finish the deletion, then the tombstone.
func (e *Engine) condemn(ctx context.Context, d spotpool.Declaration) error {
	if d.DeletionProtection {
		return fmt.Errorf("%s has deletion_protection: set it to false and apply before destroying it", d.Object())
	}
	account, err := e.Cloud.AccountID(ctx)
	if err != nil {
		return err
	}
	if account != d.AccountID {
		return &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: account}
	}
	r, err := e.loadRecord(ctx, d.Key())
	if err != nil {
		return err
	}
	if r.exists() && r.value.Declaration.UID != d.UID {
		return fmt.Errorf("the store %s holds another pool under the name %s (uid %s, and this one is %s): nothing was touched", e.Store, d.Key(), r.value.Declaration.UID, d.UID)
	}
	j, err := e.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	if d.OnDestroy != spotpool.DestroyDetach {
		if err := e.refuseProtected(ctx, d, j.value); err != nil {
			return err
		}
	}
	if !r.exists() || r.value.Phase != declaration.Deleting {
		if _, err := e.saveRecord(ctx, r, declaration.Deleting, d); err != nil {
			return err
		}
	}
	return e.entomb(ctx, d)
}

// entomb makes sure of the pool's tombstone.
func (e *Engine) entomb(ctx context.Context, d spotpool.Declaration) error {
	tombstone, err := e.loadTombstone(ctx, d.UID)
	if err != nil || tombstone.exists() {
		return err
	}
	_, err = save(ctx, e.Store, store.Tombstones, d.UID, tombstone, declaration.BuryPool(d, time.Now().UTC().Truncate(time.Second)))
	return err
}

func (e *Engine) refuseProtected(ctx context.Context, d spotpool.Declaration, j spotpool.Journal) error {
	observation, err := e.observePool(ctx, d, j, nil)
	if err != nil {
		return err
	}
	var protected []string
	for _, i := range spotpool.Holdings(d, j, observation) {
		if i.Protected || i.APIProtected {
			protected = append(protected, i.ID)
		}
	}
	if len(protected) > 0 {
		return fmt.Errorf("%s can't be destroyed: %s are protected from termination, by the tag gpupool/protected or the cloud's own protection. Lift the protection, or set on_destroy = \"detach\" and apply first", d.Object(), strings.Join(protected, ", "))
	}
	return nil
}

// finishDelete empties a condemned pool and removes what is recorded of it. It
// returns what it did; an error says what is left.
func (e *Engine) finishDelete(ctx context.Context, d spotpool.Declaration, wait time.Duration) ([]Result, error) {
	// A deletion may have been killed between its record and its tombstone.
	if err := e.withLock(ctx, d.Key(), func(ctx context.Context) error { return e.entomb(ctx, d) }); err != nil {
		return nil, err
	}
	if d.OnDestroy == spotpool.DestroyDetach {
		if err := e.detach(ctx, d); err != nil {
			return nil, err
		}
		return nil, e.bury(ctx, d)
	}
	empty := d
	empty.Minimum, empty.Maximum, empty.OnDemandBase, empty.OnDemandFallback = 0, 0, 0, nil
	a := &attempt{declaration: empty, gate: spotpool.Gate{Closed: true, Reason: "the pool is destroyed"}}
	err := e.withLock(ctx, d.Key(), func(ctx context.Context) error { return e.act(ctx, a) })
	if err == nil || worthRetrying(err) {
		err = e.settleEmpty(ctx, a, wait)
	}
	if err == nil {
		err = a.failure
	}
	if err != nil {
		return a.results, fmt.Errorf("%s is not destroyed yet: %w", d.Object(), err)
	}
	if a.plan.Held > 0 || len(a.plan.Members) > 0 {
		return a.results, fmt.Errorf("%s is not destroyed yet: %d instances are left (%s). Run terraform destroy again, or gpupool reconcile", d.Object(), len(a.plan.Members), memberIDs(a.plan.Members))
	}
	return a.results, e.bury(ctx, d)
}

// settleEmpty waits until nothing of the pool is left.
func (e *Engine) settleEmpty(ctx context.Context, a *attempt, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		if err := e.settle(ctx, a, time.Until(deadline)); err != nil {
			return err
		}
		// Failed launches leave by themselves, and pending instances can't be
		// ended: both need another look, not another decision.
		if len(a.plan.Members) == 0 || time.Now().After(deadline) || ctx.Err() != nil || a.failure != nil {
			return context.Cause(ctx)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(e.pollInterval()):
		}
		if err := e.look(ctx, a); err != nil && !worthRetrying(err) {
			return err
		}
	}
}

func memberIDs(list []spotpool.Member) string {
	ids := make([]string, len(list))
	for n, m := range list {
		ids[n] = m.ID + " " + string(m.State)
	}
	return strings.Join(ids, ", ")
}

// detach lets go of a pool's instances: it removes the tags that make them the
// pool's, and leaves them running.
func (e *Engine) detach(ctx context.Context, d spotpool.Declaration) error {
	return e.withLock(ctx, d.Key(), func(ctx context.Context) error {
		j, err := e.loadJournal(ctx, d)
		if err != nil {
			return err
		}
		if len(j.value.Intents) > 0 {
			// Only the cloud can say what an open launch made.
			d := d
			d.Maximum, d.Minimum = len(j.value.Known)+j.value.OpenCount(), 0
			a := &attempt{declaration: d, gate: spotpool.Gate{Closed: true, Reason: "the pool is being detached"}}
			if err := errors.Join(e.act(ctx, a), a.failure); err != nil {
				return err
			}
			if j, err = e.loadJournal(ctx, d); err != nil {
				return err
			}
		}
		observation, err := e.observePool(ctx, d, j.value, nil)
		if err != nil {
			return err
		}
		own := spotpool.Holdings(d, j.value, observation)
		if len(own) == 0 {
			return nil
		}
		ids := make([]string, len(own))
		for n, i := range own {
			ids[n] = i.ID
		}
		return e.Cloud.Untag(ctx, d.Region, ids, ownershipTags)
	})
}

// bury removes the journal and the record of an emptied pool. The tombstone stays.
func (e *Engine) bury(ctx context.Context, d spotpool.Declaration) error {
	return e.withLock(ctx, d.Key(), func(ctx context.Context) error {
		j, err := e.loadJournal(ctx, d)
		if err != nil {
			return err
		}
		if j.exists() {
			if err := remove(ctx, e.Store, store.Journals, journalName(d), j.revision); err != nil {
				return err
			}
		}
		r, err := e.loadRecord(ctx, d.Key())
		if err != nil || !r.exists() || r.value.Declaration.UID != d.UID {
			return err
		}
		return remove(ctx, e.Store, store.SpotPools, d.Key(), r.revision)
	})
}
