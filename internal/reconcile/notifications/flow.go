// Package notifications records notifications, claims events for them, and delivers their messages.
// Package notification decides what to send, and a Sender sends it.
package notifications

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Sender sends messages. Its errors are *notification.Failure.
type Sender interface {
	Send(ctx context.Context, d notification.Declaration, m notification.Message) error
}

// Flow has the operations on notifications.
type Flow struct {
	Repository record.Repository
	Sender     Sender
	Clock      func() time.Time
}

// State is a notification for Terraform.
type State struct {
	Declaration notification.Declaration
	// Recorded says that the store has a record, Destroyed that the notification was destroyed, and
	// Deleting that its deletion has begun.
	Recorded, Destroyed, Deleting bool
	// Journal has its deliveries; nil if it is unknown.
	Journal  *notification.Journal
	Warnings reason.Reasons
}

func (f *Flow) now() time.Time { return f.Clock().UTC().Truncate(time.Second) }

func (f *Flow) records() record.Lifecycle[notification.Declaration] {
	return record.Notifications(f.Repository)
}

type journal = record.Document[notification.Journal]

func (f *Flow) journal(ctx context.Context, uid string) (journal, error) {
	return record.Load[notification.Journal](ctx, f.Repository.Store, store.Deliveries, uid)
}

// journals reads all journals, and returns that of a UID.
func (f *Flow) journals(ctx context.Context) (func(uid string) (journal, error), error) {
	docs, err := f.Repository.Store.List(ctx, store.Deliveries)
	if err != nil {
		return nil, err
	}
	return func(uid string) (journal, error) {
		n := slices.IndexFunc(docs, func(doc store.Document) bool { return doc.Key.Name == uid })
		if n < 0 {
			return journal{}, nil
		}
		value, err := record.DecodeListed[notification.Journal](ctx, f.Repository.Store, docs[n])
		return journal{Value: value, Revision: docs[n].Revision}, err
	}, nil
}

func (f *Flow) keep(ctx context.Context, old journal, j notification.Journal) (journal, error) {
	return record.Save(ctx, f.Repository.Store, store.Deliveries, j.UID, old, j)
}

// Create declares a new notification. It reports the events from then on.
func (f *Flow) Create(ctx context.Context, d notification.Declaration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	d.Generation = 1
	err := f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Load(ctx, d.Name)
		if err != nil {
			return err
		}
		if r.Exists() {
			return f.records().ErrTaken(r)
		}
		if d, err = d.WithWriteOnly(notification.Declaration{}); err != nil {
			return err
		}
		d.UID = record.NewID()
		if _, err := f.keep(ctx, journal{}, notification.New(d, f.now())); err != nil {
			return err
		}
		_, err = f.records().Save(ctx, r, declaration.Active, d)
		return err
	})
	if err != nil {
		return State{}, err
	}
	return f.View(ctx, d)
}

// Update records a changed declaration, with the UID and the generation that it was planned against.
// If the record was lost, it creates one.
func (f *Flow) Update(ctx context.Context, d notification.Declaration) (State, error) {
	if err := valid(d); err != nil {
		return State{}, err
	}
	err := f.records().Locked(ctx, d, func(ctx context.Context) error {
		if err := f.records().CheckNotDestroyed(ctx, d); err != nil {
			return err
		}
		r, err := f.records().Load(ctx, d.Name)
		if err != nil {
			return err
		}
		if d, err = d.WithWriteOnly(r.Value.Declaration); err != nil {
			return err
		}
		differs := true
		if r.Exists() {
			d, differs, err = f.records().Change(r, d)
		} else {
			d = d.WithIdentity(d.UID, d.Generation+1)
		}
		if err != nil || !differs {
			return err
		}
		_, err = f.records().Save(ctx, r, declaration.Active, d)
		return err
	})
	if err != nil {
		return State{}, err
	}
	return f.View(ctx, d)
}

func valid(d notification.Declaration) error {
	var problems []error
	for _, p := range d.Validate(time.LoadLocation) {
		problems = append(problems, errors.New(p.String()))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s: the declaration is invalid, and nothing was changed: %w", d.Object(), errors.Join(problems...))
}

// Delete destroys a notification. The message reports events that were not delivered.
func (f *Flow) Delete(ctx context.Context, d notification.Declaration) (message reason.Reason, err error) {
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Deletable(ctx, d)
		if err != nil || !r.Exists() {
			return err
		}
		if r, err = f.records().BeginDeletion(ctx, r); err != nil {
			return err
		}
		message, err = f.clear(ctx, r)
		return err
	})
	return message, err
}

// clear removes the documents of a notification. The caller holds its lock.
func (f *Flow) clear(ctx context.Context, r record.Stored[notification.Declaration]) (message reason.Reason, err error) {
	d := r.Value.Declaration
	if err := f.records().WriteTombstone(ctx, d, f.now()); err != nil {
		return reason.Reason{}, err
	}
	j, err := f.journal(ctx, d.UID)
	if n := len(j.Value.Pending) + j.Value.LeftOut; err == nil && n > 0 {
		message = reason.DestroyedUndelivered(reason.Object(d.Object()), reason.Count(n))
	}
	if err == nil || j.Exists() {
		err = record.Remove(ctx, f.Repository.Store, store.Deliveries, d.UID, j.Revision)
	}
	if err != nil {
		return message, err
	}
	return message, f.records().Remove(ctx, r)
}

// Refusal returns why Create would refuse a notification: its name is taken.
func (f *Flow) Refusal(ctx context.Context, d notification.Declaration) error {
	r, err := f.records().Load(ctx, d.Name)
	if err == nil && r.Exists() {
		return f.records().ErrTaken(r)
	}
	return err
}

// View reads a notification's record and deliveries. It takes no lock.
func (f *Flow) View(ctx context.Context, d notification.Declaration) (State, error) {
	state := State{Declaration: d}
	r, tombstone, err := f.records().Known(ctx, d)
	if err != nil {
		return state, err
	}
	if tombstone.Exists() {
		state.Destroyed = true
		return state, nil
	}
	if r.Exists() {
		state.Recorded, state.Declaration = true, r.Value.Declaration
	}
	if state.Deleting = r.Value.Phase == declaration.Deleting; state.Deleting {
		state.Warnings = append(state.Warnings, f.records().DeletionUnfinished(state.Declaration))
	}
	j, err := f.journal(ctx, state.Declaration.UID)
	switch {
	case err != nil:
		state.Warnings = append(state.Warnings, reason.Explain(err))
	case j.Exists():
		state.Journal = &j.Value
		if d := describe(state.Declaration, &j.Value); d.Failure != nil {
			state.Warnings = append(state.Warnings, d.Reason())
		}
	}
	return state, nil
}

// Find finds a notification by its name in the store.
func (f *Flow) Find(ctx context.Context, name string) (notification.Declaration, error) {
	r, err := f.records().Find(ctx, name)
	return r.Value.Declaration, err
}

// Test sends a test message of a recorded notification, whatever its quiet hours are.
func (f *Flow) Test(ctx context.Context, name string) (notification.Declaration, error) {
	d, err := f.Find(ctx, name)
	if err != nil {
		return d, err
	}
	zone, err := zoneOf(d)
	if err != nil {
		return d, err
	}
	return d, f.Sender.Send(ctx, d, notification.Message{
		ID: record.NewID()[:16], Notification: d.Name, Attempted: f.now(), Test: true, Zone: zone, PageURL: d.PageURL,
	})
}
