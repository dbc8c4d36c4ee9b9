package spotpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Held is the result of a change of the holds of a pool.
type Held struct {
	Declaration spotpool.Declaration
	// Holds are those that began, or were released.
	Holds []spotpool.Hold
	// InForce is the hold in force that expires last; nil if there is none.
	InForce *spotpool.Hold
	// Suspended says why replacing was suspended until the release; empty if it was not.
	Suspended string
	// Busy says which process still acts on the pool, by decisions before the hold; empty if
	// none does.
	Busy string
}

// holder begins and releases holds.
type holder struct {
	*Ports
	*journals
}

// Hold pauses launches and terminations of a pool for a while. It waits for the holder of the
// pool's lock, so that earlier decisions are done when it returns.
func (h holder) Hold(ctx context.Context, key string, ask exception.Request) (Held, error) {
	d, err := h.byName(ctx, key)
	if err != nil {
		return Held{}, err
	}
	now := h.now()
	if there, err := h.holdOf(ctx, d, ask.ID, now); err != nil || len(there.Holds) > 0 {
		return there, err
	}
	begun, err := ask.Begin(cmp.Or(ask.ID, record.NewID()), now)
	if err != nil {
		return Held{}, exception.Refuse("%s is not put on hold: %w", d.Object(), err)
	}
	hold := spotpool.Hold{Exception: begun}
	held := Held{Declaration: d, Holds: []spotpool.Hold{hold}}
	after, err := record.Holds(h.Repository).Change(ctx, d.UID, func(h declaration.Holds) (declaration.Holds, error) {
		added, err := h.Add(d, hold, now)
		if err != nil {
			return h, exception.Refuse("%s is not put on hold: %w", d.Object(), err)
		}
		return declaration.Holds{PoolUID: d.UID, Pool: d.Key(), Holds: added}, nil
	})
	if err != nil {
		return Held{}, err
	}
	h.reportPoolHolds(ctx, d, after, now)
	err = h.records().Locked(ctx, d, func(context.Context) error { return nil })
	if record.IsLocked(err) {
		held.Busy, err = err.Error(), nil
	}
	if held.InForce = after.At(h.now()); err == nil && held.InForce == nil {
		err = fmt.Errorf("the hold of %s expired at %s, while another process still acted on the pool: hold it for longer", d.Object(),
			hold.Until.UTC().Format(time.RFC3339))
	}
	return held, err
}

// holdOf returns the hold of an ID, if an earlier run made it.
func (h holder) holdOf(ctx context.Context, d spotpool.Declaration, id string, now time.Time) (Held, error) {
	if id == "" {
		return Held{}, nil
	}
	all, err := record.Holds(h.Repository).Of(ctx, d.UID)
	n := slices.IndexFunc(all.List, func(h spotpool.Hold) bool { return h.ID == id })
	if err != nil || n < 0 {
		return Held{}, err
	}
	h.reportPoolHolds(ctx, d, all, now)
	return Held{Declaration: d, Holds: all.List[n : n+1], InForce: all.At(now)}, nil
}

// Release releases all holds of a pool that are in force. It also resumes replacing that is
// suspended because instances failed early. There may be neither.
func (h holder) Release(ctx context.Context, key string, r exception.Release) (Held, error) {
	d, err := h.byName(ctx, key)
	if err != nil {
		return Held{}, err
	}
	if err := r.Validate(); err != nil {
		return Held{}, fmt.Errorf("%s is not released: %w", d.Object(), err)
	}
	r.At = h.now()
	held := Held{Declaration: d}
	if err := h.releaseHolds(ctx, &held, r); err != nil {
		return held, err
	}
	if held.Suspended, err = h.resumeReplacing(ctx, d); err != nil && len(held.Holds) > 0 {
		err = fmt.Errorf("%s is no longer on hold, but replacing stays suspended: %w", d.Object(), err)
	}
	return held, err
}

// releaseHolds releases the holds of a pool that are in force.
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
		h.reportPoolHolds(ctx, d, after, r.At)
	}
	return err
}

// resumeReplacing resumes replacing that is suspended because instances failed early, and
// returns why it was suspended; empty if it was not. It takes the pool's lock, since a run in
// progress would overwrite the journal.
func (h holder) resumeReplacing(ctx context.Context, d spotpool.Declaration) (suspended string, err error) {
	j, err := h.loadJournal(ctx, d)
	if err != nil || j.Value.FailingEarly(d).IsZero() {
		return "", err
	}
	err = h.records().Locked(ctx, d, func(ctx context.Context) error {
		if j, err = h.loadJournal(ctx, d); err != nil {
			return err
		}
		if suspended = j.Value.FailingEarly(d).String(); suspended == "" {
			return nil
		}
		value := j.Value
		value.EarlyFailures = node.Streak{}
		_, err := h.saveJournal(ctx, d, j, value)
		return err
	})
	if err != nil {
		return "", err
	}
	h.report(ctx)
	return suspended, nil
}

func (h holder) reportPoolHolds(ctx context.Context, d spotpool.Declaration, holds declaration.Holds, now time.Time) {
	h.note(holds.Events(d, now)...)
	h.report(ctx)
}

// reportHolds reports which holds of the run's pools began and ended, and removes reported
// events from their documents. A failure is a warning.
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
	record.Holds(k.flow.Repository).ReportRest(ctx, k.flow.Repository, &k.flow.outbox, k.flow.Clock, unreported, k.warnings.Warn)
}

// byName returns the declaration of a pool by REGION/NAME, or by NAME if it is unique.
func (h holder) byName(ctx context.Context, name string) (spotpool.Declaration, error) {
	key, err := h.KeyOf(ctx, name)
	if err != nil {
		return spotpool.Declaration{}, err
	}
	r, err := h.records().Find(ctx, key)
	return r.Value.Declaration, err
}

// holdOn returns the hold of a pool that is in force; nil if there is none. After an error,
// nothing is done about the pool.
func (h holder) holdOn(ctx context.Context, d spotpool.Declaration) (*spotpool.Hold, error) {
	holds, err := record.Holds(h.Repository).Of(ctx, d.UID)
	if err != nil {
		return nil, err
	}
	return holds.At(h.now()), nil
}

// refuseOnHold refuses the deletion of a pool that is on hold.
func (h holder) refuseOnHold(ctx context.Context, d spotpool.Declaration) error {
	hold, err := h.holdOn(ctx, d)
	if err != nil || hold == nil {
		return err
	}
	return &spotpool.HeldError{Declaration: d, Hold: *hold}
}

func isOnHold(err error) bool {
	var held *spotpool.HeldError
	return errors.As(err, &held)
}
