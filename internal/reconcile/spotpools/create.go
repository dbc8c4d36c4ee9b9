package spotpools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// creation creates a pool.
type creation struct{ *Flow }

// Create declares a new pool and launches its minimum. It waits for the instances for at most
// wait; a shortfall at the end is a warning in the state. It fails only if nothing was
// launched: after an error Terraform would destroy the pool's instances.
//
// The next create resumes one that was killed, with the same UID.
func (f *Flow) Create(ctx context.Context, d spotpool.Declaration, wait time.Duration) (State, error) {
	account, err := f.Cloud.Account(ctx)
	if err != nil {
		return State{}, err
	}
	d.AccountID, d.Currency, d.Generation = account.ID, account.Currency, 1
	p := &pass{flow: f, gate: f.gate(ctx, d)}
	defer f.report(ctx)
	// The lock of the creation is held to its end, and distinguishes one in progress from one
	// that was killed. The pool's own lock is free while instances settle.
	err = f.Repository.WithLock(ctx, createLock(d), 0, func(ctx context.Context) error {
		return creation{f}.create(ctx, p, d, wait)
	})
	if record.IsLocked(err) && p.declaration.UID == "" {
		return State{}, f.records().ErrExists(d.Key(), "it is being created, "+err.Error())
	}
	if err != nil {
		return State{}, err
	}
	p.updateGate(ctx)
	return newState(p), nil
}

func (c creation) create(ctx context.Context, p *pass, d spotpool.Declaration, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	err := c.records().Locked(ctx, d, func(ctx context.Context) error {
		r, resumed, err := c.beginCreation(ctx, d)
		if err != nil {
			return err
		}
		p.declaration = r.Value.Declaration
		if err := c.beginJournal(ctx, p.declaration, resumed); err != nil {
			return err
		}
		return p.act(ctx)
	})
	if p.declaration.UID == "" {
		return err
	}
	if err == nil {
		err = p.settle(ctx, time.Until(deadline))
	}
	return c.finishCreate(ctx, p, errors.Join(err, p.failure))
}

// beginCreation writes the record of a new pool, or takes over the record of a creation that
// was killed, and resumes it.
func (c creation) beginCreation(ctx context.Context, d spotpool.Declaration) (r stored, resumed bool, err error) {
	if r, err = c.records().Load(ctx, d.Key()); err != nil {
		return r, false, err
	}
	if r.Exists() {
		old := r.Value.Declaration
		if r.Value.Phase != declaration.Creating {
			return r, false, c.records().ErrTaken(r)
		}
		if err := sameAccount(old, d.AccountID); err != nil {
			return r, false, err
		}
		d.UID = old.UID
		if d, err = c.bindByJournal(ctx, d, r); err != nil {
			return r, false, err
		}
		r, err = c.records().Save(ctx, r, declaration.Creating, d)
		return r, true, err
	}
	found, _, err := c.Cloud.ObserveNamed(ctx, d.Region, d.Name)
	if err != nil {
		return r, false, fmt.Errorf("reading instances of an earlier pool %s: %w", d.Key(), err)
	}
	if err := c.refuseTaken(d, found); err != nil {
		return r, false, err
	}
	if d, err = c.bind(ctx, d, "", journal.Journal{}); err != nil {
		return r, false, err
	}
	d.UID = record.NewID()
	r, err = c.records().Save(ctx, r, declaration.Creating, d)
	return r, false, err
}

// beginJournal writes the journal of a new pool, unless a creation that was killed did. A
// resumed creation without a journal may have lost it, so its new journal has no salt.
func (c creation) beginJournal(ctx context.Context, d spotpool.Declaration, resumed bool) error {
	j, err := c.loadJournal(ctx, d)
	if err != nil || j.Exists() {
		return err
	}
	begun := journal.New(d, c.now())
	if !resumed {
		begun = begun.Salted(record.NewID())
	}
	_, err = c.saveJournal(ctx, d, j, begun)
	return err
}

// refuseTaken fails if instances with the pool's name exist.
func (f *Flow) refuseTaken(d spotpool.Declaration, named []spotpool.Instance) error {
	for _, i := range named {
		if !i.State.Ending() {
			return f.records().ErrExists(d.Key(), fmt.Sprintf("%s %s its tag, such as %s", wording.Count(len(named), "instance"), wording.Have(len(named)),
				i.ID))
		}
	}
	return nil
}

// finishCreate marks the record active. If cause is not nil and nothing was launched, it
// removes the record and fails with cause. It also fails if no observation succeeded; the
// record then stays, for the next create.
func (c creation) finishCreate(ctx context.Context, p *pass, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	d := p.declaration
	return c.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := c.records().Load(ctx, d.Key())
		if err != nil {
			return errors.Join(cause, err)
		}
		j, err := c.loadJournal(ctx, d)
		if err != nil {
			return errors.Join(cause, err)
		}
		nothing := len(j.Value.Known) == 0 && len(j.Value.Pending) == 0
		if cause != nil && nothing && len(j.Value.Tokens) > 0 {
			return fmt.Errorf("%s was begun, and nothing was launched; apply again to resume: %w", d.Object(), cause)
		}
		if cause != nil && nothing {
			c.outbox.Forget(d.UID)
			err := record.Remove(ctx, c.Repository.Store, store.Journals, journalName(d), j.Revision)
			return errors.Join(cause, err, c.records().Remove(ctx, r))
		}
		if p.latest == nil {
			return fmt.Errorf("%s was begun before, and its instances cannot be observed now; apply again to resume: %w", d.Object(), cause)
		}
		if cause != nil && p.failure == nil {
			p.failure = cause
		}
		p.latest.plan.Journal = j.Value
		_, err = c.records().Save(ctx, r, declaration.Active, d)
		return err
	})
}
