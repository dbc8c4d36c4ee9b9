package notifications

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Run reports the events of one run. Claim comes first, and Deliver at the end.
type Run struct {
	*Flow
	// Warn gets warnings.
	Warn func(...reason.Reason)

	claimed []*delivery
	present notification.Present
	// lifetime is that of alerts of lasting conditions.
	lifetime time.Duration
}

// Claiming says which events a run finds.
type Claiming struct {
	// Last returns the summary of the last run. It is called only if there are notifications.
	Last func(ctx context.Context) declaration.RunSummary
	// Found are the events that this run added to the history. They can be older.
	Found []history.Event
	// Failing reports whether an object failed in this run. Nil if not all were reconciled.
	Failing func(object string) bool
	// Present is what this run found about lasting conditions.
	Present notification.Present
}

// Report is what a run sent for one notification.
type Report struct {
	// The name.
	Name string `json:"name"`
	// The protocol of the receiver.
	Type notification.Type `json:"type"`
	// The number of messages that the run delivered.
	Messages int `json:"messages"`
	// The number of events in them.
	Events int `json:"events"`
	// Why the last attempt failed. Later runs try again.
	Failure *notification.Failure `json:"failure,omitempty"`
}

type delivery struct {
	declaration notification.Declaration
	zone        *time.Location
	journal     journal
	report      Report
}

const (
	// deliverAtMost bounds all messages of one run, and attemptAtMost one of them. No attempt begins with
	// less time: a receiver that was not given its time has not failed.
	deliverAtMost  = 20 * time.Second
	attemptAtMost  = 8 * time.Second
	messagesAtMost = 5 // of one notification in one run
	atOnce         = 8 // receivers
)

// Claim writes the events since the last run into the journals of the notifications that select
// them. complete reports that all did so: the next run needs only newer events.
func (r *Run) Claim(ctx context.Context, c Claiming) (complete bool) {
	declared, err := r.declared(ctx)
	if err != nil {
		r.Warn(reason.NothingSent(reason.Failure(err)))
		return false
	}
	if complete = true; len(declared) == 0 {
		return complete
	}
	journalOf, err := r.journals(ctx)
	if err != nil {
		r.Warn(reason.NothingSent(reason.Failure(err)))
		return false
	}
	last, since := c.Last(ctx), r.now()
	r.lifetime, r.present = notification.Lifetime(last.Starts, r.now()), c.Present
	for _, d := range declared {
		of := &delivery{declaration: d, report: Report{Name: d.Name, Type: d.Type}}
		if of.zone, err = zoneOf(d); err == nil {
			of.journal, err = journalOf(d.UID)
		}
		if err != nil {
			r.Warn(reason.NotSent(reason.Object(d.Object()), reason.Failure(err)))
			complete = false
			continue
		}
		if !of.journal.Exists() {
			r.Warn(reason.DeliveriesLost(reason.Object(d.Object())))
			of.journal.Value = notification.New(d, r.now())
		}
		r.claimed = append(r.claimed, of)
		since = slices.MinFunc([]time.Time{since, r.window(of.journal.Value, last.NotifiedUntil)}, time.Time.Compare)
	}
	if len(r.claimed) == 0 {
		return complete
	}
	events, err := r.events(ctx, since, c.Found)
	if err != nil {
		r.Warn(reason.ReportedLater(reason.Failure(err)))
		return false
	}
	r.claimed = slices.DeleteFunc(r.claimed, func(of *delivery) bool {
		if err := r.claim(ctx, of, events, c.Failing); err != nil {
			r.Warn(reason.ReportedLaterOf(reason.Object(of.declaration.Object()), reason.Failure(err)))
			complete = false
			return true
		}
		return false
	})
	return complete
}

// declared returns the active notifications. It finishes deletions that were begun.
func (r *Run) declared(ctx context.Context) ([]notification.Declaration, error) {
	records, err := r.records().List(ctx)
	var list []notification.Declaration
	for _, of := range records {
		d := of.Record.Declaration
		switch {
		case of.Err != nil:
			r.Warn(reason.Explain(of.Err))
		case of.Record.Phase == declaration.Deleting:
			if message, err := r.Delete(ctx, d); err != nil {
				r.Warn(reason.NotDestroyed(reason.Object(d.Object()), reason.Failure(err)))
			} else if !message.IsZero() {
				r.Warn(message)
			}
		default:
			list = append(list, d)
		}
	}
	return list, err
}

// Counts returns the messages of the notifications that claimed events, by UID.
func (r *Run) Counts() map[string]declaration.Messages {
	counts := map[string]declaration.Messages{}
	for _, of := range r.claimed {
		j := of.journal.Value
		counts[j.UID] = declaration.Messages{Delivered: j.Delivered, Failed: j.Failed}
	}
	return counts
}

// window returns the time from which events are read: a new notification's own, or a while before
// the last run. Once a day it is longer, for the events that a killed run left in their documents.
func (r *Run) window(j notification.Journal, until time.Time) time.Time {
	from := j.Since
	if j.Begun && !until.IsZero() && !until.After(r.now()) && history.DayOf(until) == history.DayOf(r.now()) {
		from = until.Add(-history.Overlap)
	}
	return slices.MaxFunc([]time.Time{from, r.now().Add(-notification.Lookback)}, time.Time.Compare)
}

func (r *Run) claim(ctx context.Context, of *delivery, events []history.Event, failing func(string) bool) error {
	claimer := notification.Claimer{Declaration: of.declaration, Zone: of.zone, Now: r.now(), Failing: failing, Present: r.present}
	next, changed := claimer.Claim(of.journal.Value, events)
	if !changed && of.journal.Exists() {
		return nil
	}
	kept, err := r.keep(ctx, of.journal, next)
	of.journal = kept
	return err
}

// events returns the events of the history since a time, and those that were found.
func (r *Run) events(ctx context.Context, since time.Time, found []history.Event) ([]history.Event, error) {
	var kinds []history.Kind
	for _, of := range r.claimed {
		kinds = append(kinds, notification.Claimer{Declaration: of.declaration}.Kinds()...)
	}
	slices.Sort(kinds)
	var events []history.Event
	_, err := r.Repository.History(r.Clock).Walk(ctx, history.Query{Kinds: slices.Compact(kinds), Since: since}, func(e *history.Event) error {
		events = append(events, *e)
		return nil
	})
	events, _ = history.Merge(events, found...)
	return events, err
}

// Deliver sends what is due. Its time is bounded, and no failure fails the run: the next one
// continues.
func (r *Run) Deliver(ctx context.Context) []Report {
	ctx, cancel := context.WithTimeout(ctx, deliverAtMost)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, of := range r.receivers() {
		group.Go(func() error {
			ready := r.pause(of)
			for _, d := range of {
				ready = r.deliver(ctx, d, ready)
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
	var reports []Report
	for _, of := range r.claimed {
		if d := describe(of.declaration, &of.journal.Value); d.Failure != nil {
			of.report.Failure = d.Failure
			r.Warn(d.Reason())
		}
		if of.report.Messages > 0 || of.report.Failure != nil {
			reports = append(reports, of.report)
		}
	}
	return reports
}

// receivers returns the notifications by address. Those of one address wait for each other. Failing
// ones are last, since they can take all the time.
func (r *Run) receivers() [][]*delivery {
	byAddress := map[string]int{}
	var list [][]*delivery
	for _, of := range r.claimed {
		address := string(of.declaration.Type) + " " + of.declaration.URL + " " + of.declaration.Secret
		n, known := byAddress[address]
		if !known {
			n = len(list)
			byAddress[address], list = n, append(list, nil)
		}
		list[n] = append(list[n], of)
	}
	slices.SortStableFunc(list, func(a, b []*delivery) int { return cmp.Compare(failing(a), failing(b)) })
	return list
}

func failing(list []*delivery) (count int) {
	for _, of := range list {
		if of.journal.Value.Failure != nil {
			count++
		}
	}
	return count
}

// pause waits until the receiver's interval since the last run is over.
func (r *Run) pause(list []*delivery) <-chan time.Time {
	var last time.Time
	for _, of := range list {
		last = slices.MaxFunc([]time.Time{last, of.journal.Value.DeliveredAt}, time.Time.Compare)
	}
	interval := list[0].declaration.Type.Interval()
	return time.After(min(interval, last.Add(interval).Sub(r.now())))
}

// deliver sends the messages of one notification until one fails. ready is when its receiver takes the
// first one. It returns when the receiver takes the next one.
func (r *Run) deliver(ctx context.Context, of *delivery, ready <-chan time.Time) <-chan time.Time {
	s := notification.Schedule{Declaration: of.declaration, Zone: of.zone, Lifetime: r.lifetime, Present: r.present}
	for range messagesAtMost {
		if _, due := s.Next(of.journal.Value, r.now()); !due {
			return ready
		}
		select {
		case <-ctx.Done():
		case <-ready:
		}
		m, due := s.Next(of.journal.Value, r.now())
		more := due && hasTime(ctx) && r.attempt(ctx, of, m)
		ready = time.After(of.declaration.Type.Interval())
		if !more || m.Refresh() {
			return ready
		}
	}
	return ready
}

// hasTime reports whether an attempt can take as long as it may.
func hasTime(ctx context.Context) bool {
	ends, bounded := ctx.Deadline()
	return ctx.Err() == nil && (!bounded || time.Until(ends) >= attemptAtMost)
}

// attempt sends one message, and records it before and after. It reports whether more can be sent.
func (r *Run) attempt(ctx context.Context, of *delivery, m notification.Message) bool {
	j := of.journal.Value
	if !m.Refresh() {
		kept, err := r.keep(ctx, of.journal, j.Attempt(of.declaration, m))
		if err != nil {
			r.Warn(reason.AttemptUnrecorded(reason.Object(of.declaration.Object()), reason.Failure(err)))
			return false
		}
		of.journal, j = kept, kept.Value
	}
	err := r.send(ctx, of.declaration, m)
	after := j.Succeed(m, r.now())
	if err != nil {
		after = j.Fail(m, failureOf(err), r.now())
	} else if !m.Refresh() {
		of.report.Messages++
		of.report.Events += len(m.Lines)
	}
	if record.Same(after, j) {
		return err == nil
	}
	// A delivery is recorded even if the run is stopped.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	kept, unrecorded := r.keep(ctx, of.journal, after)
	if unrecorded != nil {
		r.Warn(reason.DeliveryUnrecorded(reason.Object(of.declaration.Object()), reason.Failure(unrecorded)))
		return false
	}
	of.journal = kept
	return err == nil
}

func (r *Run) send(ctx context.Context, d notification.Declaration, m notification.Message) error {
	ctx, cancel := context.WithTimeout(ctx, attemptAtMost)
	defer cancel()
	return r.Sender.Send(ctx, d, m)
}

func failureOf(err error) notification.Failure {
	var failure *notification.Failure
	if errors.As(err, &failure) {
		return *failure
	}
	return notification.Failure{Reason: reason.Explain(err), Uncertain: true}
}

func zoneOf(d notification.Declaration) (*time.Location, error) {
	return budget.ParseZone(d.TimeZone, time.LoadLocation)
}

// String describes what was sent.
func (r Report) String() string {
	if r.Failure != nil {
		return fmt.Sprintf("notification/%s: not delivered: %s", r.Name, r.Failure.Error())
	}
	return fmt.Sprintf("notification/%s: sent %d %s in %d %s", r.Name, r.Events, wording.Plural(r.Events, "event", "events"), r.Messages,
		wording.Plural(r.Messages, "message", "messages"))
}
