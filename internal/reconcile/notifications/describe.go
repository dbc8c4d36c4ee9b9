package notifications

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Description is a notification in a status.
type Description struct {
	// The name.
	Name string `json:"name"`
	// The protocol of the receiver.
	Type notification.Type `json:"type"`
	// `InSync`, `Failing`, or `Unknown` if its record or its deliveries cannot be read.
	State state.State `json:"state"`
	// The number of delivered messages.
	Delivered int64 `json:"delivered"`
	// The number of failed attempts.
	Failed int64 `json:"failed"`
	// When the last message was delivered.
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	// The number of events that wait for their message.
	Pending int `json:"pending"`
	// Since when no attempt succeeded. Present only if it fails.
	FailingSince time.Time `json:"failing_since,omitzero"`
	// When the next attempt is due. Present only if it fails.
	NextAt time.Time `json:"next_attempt_at,omitzero"`
	// Why the last attempt failed.
	Failure *notification.Failure `json:"failure,omitempty"`
	// Why the record or the deliveries cannot be read.
	Error string `json:"error,omitempty"`
}

// Object is the name in reports.
func (d Description) Object() string { return "notification/" + d.Name }

// Reason says why it fails; zero if it does not.
func (d Description) Reason() reason.Reason {
	switch {
	case d.Error != "":
		return reason.Unexplained(reason.NewForeign(d.Error))
	case d.Failure == nil:
		return reason.Reason{}
	}
	return reason.DeliveryFails(reason.Object(d.Object()), reason.Instant{Time: d.FailingSince}, d.Failure.Because(),
		reason.Instant{Time: d.NextAt})
}

func describe(d notification.Declaration, j *notification.Journal) Description {
	of := Description{Name: d.Name, Type: d.Type, State: state.InSync}
	if j == nil {
		return of
	}
	of.Delivered, of.Failed, of.DeliveredAt, of.Pending = j.Delivered, j.Failed, j.DeliveredAt, len(j.Pending)+j.LeftOut
	if j.Failure != nil {
		of.State, of.FailingSince, of.NextAt, of.Failure = state.Failing, j.FailingSince, j.NextAt, j.Failure
	}
	return of
}

// Describe reads all notifications. It takes no lock. The error says that the store cannot be read.
func (f *Flow) Describe(ctx context.Context) ([]Description, error) {
	records, err := f.records().List(ctx)
	if err != nil || len(records) == 0 {
		return []Description{}, err
	}
	journalOf, err := f.journals(ctx)
	if err != nil {
		return []Description{}, err
	}
	list := make([]Description, 0, len(records))
	for _, r := range records {
		d := r.Record.Declaration
		of := Description{Name: r.Key, State: state.Unknown}
		var j journal
		if r.Err == nil {
			j, r.Err = journalOf(d.UID)
		}
		switch {
		case r.Err != nil:
			of.Error = r.Err.Error()
		case j.Exists():
			of = describe(d, &j.Value)
			f.addDelay(&of, d, j.Value)
		default:
			of = describe(d, nil)
		}
		if r.Err == nil && r.Record.Phase == declaration.Deleting {
			of.State = state.Deleting
		}
		list = append(list, of)
	}
	return list, nil
}

// delayedAfter is how long an event may wait for a run although it is due. Runs can be hours apart.
const delayedAfter = 3 * time.Hour

// addDelay reports events that no run sends although they are due. A run that cannot record an attempt
// sends nothing.
func (f *Flow) addDelay(of *Description, d notification.Declaration, j notification.Journal) {
	zone, err := zoneOf(d)
	if of.State != state.InSync || len(j.Pending) == 0 || err != nil {
		return
	}
	s, now := notification.Schedule{Declaration: d, Zone: zone}, f.now()
	since := func(at time.Time) (oldest time.Time) {
		m, _ := s.Next(j, at)
		for _, l := range m.Lines {
			if !l.ClaimedAt.After(at) && (oldest.IsZero() || l.ClaimedAt.Before(oldest)) {
				oldest = l.ClaimedAt
			}
		}
		return oldest
	}
	of.FailingSince = since(now)
	switch probed, can := f.Repository.Store.(store.Probed); {
	case of.FailingSince.IsZero():
		return
	case can && probed.Unwritable() != nil:
		of.Failure = &notification.Failure{Reason: reason.Unrecordable(reason.Failure(probed.Unwritable()))}
	case !since(now.Add(-delayedAfter)).IsZero():
		of.Failure = &notification.Failure{Reason: reason.EventsWait(reason.Count(of.Pending))}
	default:
		of.FailingSince = time.Time{}
		return
	}
	of.State, of.NextAt = state.Failing, now
}
