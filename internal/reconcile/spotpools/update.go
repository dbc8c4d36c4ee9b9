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

// update is a change of what is declared of a pool.
type update struct{ *Flow }

// Update records a changed declaration and brings the pool to it: launches,
// scale-in, and one batch of a refresh. The declaration carries the uid, the
// account and the generation that it was planned against. A pool whose record
// was lost is recorded anew.
func (f *Flow) Update(ctx context.Context, d spotpool.Declaration, wait time.Duration) (State, error) {
	p := &pass{flow: f, gate: f.gate(ctx, d), soFar: decide.SoFar{Insists: true}}
	defer f.report(ctx)
	deadline := time.Now().Add(wait)
	unfinished := "" // why nothing but the record was changed
	err := f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := update{f}.change(ctx, d)
		if err != nil {
			return err
		}
		p.declaration = r.Value.Declaration
		if r.Value.Phase == declaration.Deleting {
			unfinished = f.records().Unfinished(d)
			p.warnings = append(p.warnings, unfinished)
			return nil
		}
		return p.act(ctx)
	})
	if err == nil && unfinished == "" {
		err = p.settle(ctx, time.Until(deadline))
	}
	if p.declaration.UID == "" {
		return State{}, err
	}
	if err == nil && p.failure != nil && !p.uncertain && !errors.Is(p.failure, errNotYet) {
		err = p.failure
	}
	p.judgeAgain(ctx)
	state := newState(p)
	state.Deleting = unfinished != ""
	return state, err
}

// change writes the record of a declaration; the pool's lock must be held.
func (u update) change(ctx context.Context, d spotpool.Declaration) (stored, error) {
	if err := u.ownAccount(ctx, d); err != nil {
		return stored{}, err
	}
	r, err := u.records().Load(ctx, d.Key())
	if err != nil {
		return r, err
	}
	if d, err = d.WithWriteOnly(r.Value.Declaration); err != nil {
		return r, err
	}
	if d, err = u.boundByJournal(ctx, d, r); err != nil {
		return r, err
	}
	if !r.Exists() {
		return u.recordAnew(ctx, r, d)
	}
	if withoutNodes, ok := givesUpNodes(r, d); ok {
		return u.records().Save(ctx, r, declaration.Deleting, withoutNodes)
	}
	changed, differs, err := u.records().Change(r, d)
	switch {
	case err != nil:
		return r, err
	case r.Value.Phase == declaration.Creating:
		return u.takeUp(ctx, r, changed)
	case !differs:
		return r, nil
	}
	return u.records().Save(ctx, r, declaration.Active, changed)
}

// givesUpNodes is the declaration to record where a deletion that was begun can't be
// finished, since the cluster of the nodes is gone, and the nodes alone are given up. It
// is not ok for any other change.
func givesUpNodes(r stored, d spotpool.Declaration) (changed spotpool.Declaration, ok bool) {
	old := r.Value.Declaration
	if r.Value.Phase != declaration.Deleting || old.Nodes == nil || d.Nodes != nil {
		return d, false
	}
	old.Nodes, old.ClusterUID = nil, d.ClusterUID
	if old.BootstrapToken != nil { // which goes with the nodes, and so does its placeholder
		old.BootstrapToken = nil
		old.UserData, old.UserDataWO, old.UserDataWOVersion = d.UserData, d.UserDataWO, d.UserDataWOVersion
	}
	return d.WithIdentity(d.UID, d.Generation+1), record.Same(old, d)
}

// takeUp makes the record of a creation that was killed, and whose pool was
// imported since, that of an active pool. A creation under way is left alone.
func (u update) takeUp(ctx context.Context, r stored, d spotpool.Declaration) (stored, error) {
	var saved stored
	err := u.Repository.WithLock(ctx, createLock(d), 0, func(ctx context.Context) (err error) {
		saved, err = u.records().Save(ctx, r, declaration.Active, d)
		return err
	})
	if record.IsLocked(err) {
		return r, fmt.Errorf("%s is being created right now: apply again once that is finished (%w)", d.Object(), err)
	}
	return saved, err
}

// recordAnew writes a record that is missing. What its instances were launched
// with is unknown, so their configurations are accepted as they are. A pool that
// was destroyed stays so, unless machines of it are there after all.
func (u update) recordAnew(ctx context.Context, r stored, d spotpool.Declaration) (stored, error) {
	tombstone, err := u.Repository.Tombstone(ctx, d.UID)
	if err != nil {
		return r, err
	}
	if tombstone.Exists() {
		left, err := u.leftOf(ctx, d)
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

// acceptObserved accepts the configurations of a pool's instances as they are.
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
	if !j.Exists() { // nothing in the store speaks of earlier launches: it may be new for each run
		accepting = accepting.Salted(record.NewID())
	}
	_, err = f.saveJournal(ctx, d, j, accepting)
	return err
}
