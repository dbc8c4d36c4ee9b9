package spotpools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// update changes the declaration of a pool.
type update struct{ *Flow }

// Update records a changed declaration and applies it: launches, scale-in, and one batch of a
// refresh. The declaration has the UID, the account and the generation of its plan. If the
// record was lost, it is written again.
func (f *Flow) Update(ctx context.Context, d spotpool.Declaration, wait time.Duration) (State, error) {
	p := &pass{flow: f, gate: f.gate(ctx, d), soFar: decide.SoFar{Insists: true}}
	defer f.report(ctx)
	deadline := time.Now().Add(wait)
	unfinished := false // nothing but the record was changed
	err := f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := update{f}.change(ctx, d)
		if err != nil {
			return err
		}
		p.declaration = r.Value.Declaration
		if r.Value.Phase == declaration.Deleting {
			unfinished = true
			p.warnings = append(p.warnings, f.records().DeletionUnfinished(d))
			return nil
		}
		return p.act(ctx)
	})
	if err == nil && !unfinished {
		err = p.settle(ctx, time.Until(deadline))
	}
	if p.declaration.UID == "" {
		return State{}, err
	}
	if err == nil && p.failure != nil && !p.uncertain && !errors.Is(p.failure, errNotYet) {
		err = p.failure
	}
	p.updateGate(ctx)
	state := newState(p)
	state.Deleting = unfinished
	return state, err
}

// change records a declaration. The pool's lock must be held.
func (u update) change(ctx context.Context, d spotpool.Declaration) (stored, error) {
	account, err := u.Cloud.Account(ctx)
	if err == nil {
		err = sameAccount(d, account.ID)
	}
	if err != nil {
		return stored{}, err
	}
	d.Currency = account.Currency
	r, err := u.records().Load(ctx, d.Key())
	if err != nil {
		return r, err
	}
	if d, err = d.WithWriteOnly(r.Value.Declaration); err != nil {
		return r, err
	}
	if d, err = u.bindByJournal(ctx, d, r); err != nil {
		return r, err
	}
	if !r.Exists() {
		return u.recordAgain(ctx, r, d)
	}
	if reduced, ok := withoutNodes(r, d); ok {
		return u.records().Save(ctx, r, declaration.Deleting, reduced)
	}
	changed, differs, err := u.records().Change(r, d)
	switch {
	case err != nil:
		return r, err
	case r.Value.Phase == declaration.Creating:
		return u.activate(ctx, r, changed)
	case !differs:
		return r, nil
	}
	return u.records().Save(ctx, r, declaration.Active, changed)
}

// withoutNodes returns the declaration that only removes nodes from a pool that is being
// deleted, since their cluster is gone for good. ok is false for any other change.
func withoutNodes(r stored, d spotpool.Declaration) (changed spotpool.Declaration, ok bool) {
	old := r.Value.Declaration
	if r.Value.Phase != declaration.Deleting || old.Nodes == nil || d.Nodes != nil {
		return d, false
	}
	old.Nodes, old.ClusterUID, old.Currency = nil, d.ClusterUID, d.Currency
	if old.BootstrapToken != nil { // it needs nodes, and so does its placeholder
		old.BootstrapToken = nil
		old.UserData, old.UserDataWO, old.UserDataWOVersion = d.UserData, d.UserDataWO, d.UserDataWOVersion
	}
	return d.WithIdentity(d.UID, d.Generation+1), record.Same(old, d)
}

// activate activates the record of a killed creation whose pool was imported since. It
// refuses that during a creation.
func (u update) activate(ctx context.Context, r stored, d spotpool.Declaration) (stored, error) {
	var saved stored
	err := u.Repository.WithLock(ctx, createLock(d), 0, func(ctx context.Context) (err error) {
		saved, err = u.records().Save(ctx, r, declaration.Active, d)
		return err
	})
	if record.IsLocked(err) {
		return r, fmt.Errorf("%s is being created: apply again after the creation (%w)", d.Object(), err)
	}
	return saved, err
}

// recordAgain writes a missing record. The configurations of its instances are unknown, so they
// are accepted. A destroyed pool stays destroyed, unless it still has instances.
func (u update) recordAgain(ctx context.Context, r stored, d spotpool.Declaration) (stored, error) {
	tombstone, err := u.Repository.Tombstone(ctx, d.UID)
	if err != nil {
		return r, err
	}
	if tombstone.Exists() {
		left, err := u.remainingInstances(ctx, d)
		if err != nil {
			return r, err
		}
		if len(left) == 0 {
			return r, u.records().Destroyed(d, tombstone.Value.DestroyedAt)
		}
	}
	if err := u.acceptObserved(ctx, d); err != nil {
		return r, err
	}
	d.Generation++
	saved, err := u.records().Save(ctx, r, declaration.Active, d)
	if err == nil && tombstone.Exists() {
		err = record.Remove(ctx, u.Repository.Store, store.Tombstones, d.UID, tombstone.Revision)
	}
	return saved, err
}

// acceptObserved accepts the configurations of a pool's instances.
func (f *Flow) acceptObserved(ctx context.Context, d spotpool.Declaration) error {
	observation, err := f.observePool(ctx, d, journal.Journal{}, nil)
	if err != nil {
		return err
	}
	var tags []string
	for _, i := range fleet.Tagged(d, observation) {
		tags = append(tags, i.ConfigurationTag)
	}
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	accepting := j.Value.Accepting(tags)
	if !j.Exists() { // the store may be new for each run
		accepting = accepting.Salted(record.NewID())
	}
	_, err = f.saveJournal(ctx, d, j, accepting)
	return err
}
