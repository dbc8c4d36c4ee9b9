package spotpools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Held is what became of the holds of a pool.
type Held struct {
	Declaration spotpool.Declaration
	// Holds are those that were begun, or ended.
	Holds []spotpool.Hold
	// InForce is, of those that are in force, the one that ends last; nil where there is
	// none.
	InForce *spotpool.Hold
	// Suspended says why replacing was suspended until the release; empty where it was
	// not, or goes on by itself.
	Suspended string
	// Busy says who is acting on the pool, by decisions made before the hold; empty
	// where nobody is.
	Busy string
}

// holder begins and ends holds.
type holder struct {
	*Ports
	*journals
}

// Hold keeps a pool from launching and ending for a while. Whoever has the pool's lock
// is waited for: nothing that was decided before the hold is done once it is told of.
func (h holder) Hold(ctx context.Context, key string, ask exception.Request) (Held, error) {
	d, err := h.byName(ctx, key)
	if err != nil {
		return Held{}, err
	}
	now := h.now()
	begun, err := ask.Begin(record.NewID(), now)
	if err != nil {
		return Held{}, fmt.Errorf("%s is not put on hold: %w", d.Object(), err)
	}
	hold := spotpool.Hold{Exception: begun}
	held := Held{Declaration: d, Holds: []spotpool.Hold{hold}}
	after, err := record.Holds(h.Repository).Change(ctx, d.UID, func(h declaration.Holds) (declaration.Holds, error) {
		added, err := h.Add(d, hold, now)
		if err != nil {
			return h, fmt.Errorf("%s is not put on hold: %w", d.Object(), err)
		}
		return declaration.Holds{PoolUID: d.UID, Pool: d.Key(), Holds: added}, nil
	})
	if err != nil {
		return Held{}, err
	}
	h.reportHoldsOf(ctx, d, after, now)
	err = h.records().Locked(ctx, d, func(context.Context) error { return nil })
	if record.IsLocked(err) {
		held.Busy, err = err.Error(), nil
	}
	if held.InForce = after.At(h.now()); err == nil && held.InForce == nil {
		err = fmt.Errorf("the hold of %s ended at %s, before those who acted on the pool were done: hold it for longer", d.Object(),
			hold.Until.UTC().Format(time.RFC3339))
	}
	return held, err
}

// Release ends all holds of a pool that are in force, and has replacing go on that is
// suspended as instances never joined. There may be none of both.
func (h holder) Release(ctx context.Context, key string, r exception.Release) (Held, error) {
	d, err := h.byName(ctx, key)
	if err != nil {
		return Held{}, err
	}
	if err := r.Validate(); err != nil {
		return Held{}, fmt.Errorf("nothing of %s is released: %w", d.Object(), err)
	}
	r.At = h.now()
	held := Held{Declaration: d}
	if err := h.releaseHolds(ctx, &held, r); err != nil {
		return held, err
	}
	if held.Suspended, err = h.replaceAgain(ctx, d); err != nil && len(held.Holds) > 0 {
		err = fmt.Errorf("%s is on hold no longer, and replacing stays suspended: %w", d.Object(), err)
	}
	return held, err
}

// releaseHolds ends the holds of a pool that are in force.
func (h holder) releaseHolds(ctx context.Context, held *Held, r exception.Release) error {
	d := held.Declaration
	there, err := record.Holds(h.Repository).Of(ctx, d.UID)
	if err != nil || there.At(r.At) == nil {
		return err
	}
	after, err := record.Holds(h.Repository).Change(ctx, d.UID, func(h declaration.Holds) (declaration.Holds, error) {
		h.Holds, held.Holds = h.Holds.Release(d, r)
		h.PoolUID, h.Pool = d.UID, d.Key()
		return h, nil
	})
	if err == nil {
		h.reportHoldsOf(ctx, d, after, r.At)
	}
	return err
}

// replaceAgain has replacing go on that is suspended as instances never joined, and
// returns why it was; empty where it is not. It is done under the pool's lock: a run that
// has begun would write the journal as it was.
func (h holder) replaceAgain(ctx context.Context, d spotpool.Declaration) (suspended string, err error) {
	j, err := h.loadJournal(ctx, d)
	if err != nil || j.Value.NeverJoining(d) == "" {
		return "", err
	}
	err = h.records().Locked(ctx, d, func(ctx context.Context) error {
		if j, err = h.loadJournal(ctx, d); err != nil {
			return err
		}
		if suspended = j.Value.NeverJoining(d); suspended == "" {
			return nil
		}
		value := j.Value
		value.NeverJoined = node.Streak{}
		_, err := h.saveJournal(ctx, d, j, value)
		return err
	})
	if err != nil {
		return "", err
	}
	h.report(ctx)
	return suspended, nil
}

func (h holder) reportHoldsOf(ctx context.Context, d spotpool.Declaration, holds declaration.Holds, now time.Time) {
	h.note(holds.Events(d, now)...)
	h.report(ctx)
}

// reportHolds reports to the history which holds of the run's pools began and ended, as far as
// nobody told it, and then leaves that out of their documents. That it can't is only
// warned of.
func (k *kind) reportHolds(ctx context.Context) {
	now := k.flow.now()
	var unreported []record.Rest[declaration.Holds]
	for _, t := range k.opened {
		d := t.declaration
		if events := t.holds.Events(d, now); len(events) > 0 {
			k.flow.note(events...)
			unreported = append(unreported, record.Rest[declaration.Holds]{UID: d.UID, WithoutReported: func(h declaration.Holds) declaration.Holds {
				h.Holds = h.Holds.WithoutReported(d, now, k.flow.outbox.Has)
				return h
			}})
		}
	}
	record.Holds(k.flow.Repository).ReportRest(ctx, k.flow.Repository, &k.flow.outbox, k.flow.Clock, unreported, k.warnings.Add)
}

// byName is the declaration of a pool by REGION/NAME, or by NAME where one region alone
// has a pool of that name.
func (h holder) byName(ctx context.Context, name string) (spotpool.Declaration, error) {
	key, err := h.KeyOf(ctx, name)
	if err != nil {
		return spotpool.Declaration{}, err
	}
	r, err := h.records().Find(ctx, key)
	return r.Value.Declaration, err
}

// holdOn is the hold of a pool that is in force; nil where there is none. Without
// knowing that, nothing is done about the pool.
func (h holder) holdOn(ctx context.Context, d spotpool.Declaration) (*spotpool.Hold, error) {
	holds, err := record.Holds(h.Repository).Of(ctx, d.UID)
	if err != nil {
		return nil, err
	}
	return holds.At(h.now()), nil
}

// refuseHeld refuses the end of a pool that is on hold.
func (h holder) refuseHeld(ctx context.Context, d spotpool.Declaration) error {
	hold, err := h.holdOn(ctx, d)
	if err != nil || hold == nil {
		return err
	}
	return &spotpool.HeldError{Declaration: d, Hold: *hold}
}

func isHeld(err error) bool {
	var held *spotpool.HeldError
	return errors.As(err, &held)
}
