package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// failuresListed limits the failures of one run that are listed singly: if Tencent Cloud or a
// cluster is unreachable, everything fails alike.
const failuresListed = 200

// addHistory appends what the run did to the history, in one write, and what failed. A
// failure of that does not fail the run: what is not appended stays in its document, and
// the next run appends it. It returns the events.
func (r *run) addHistory(ctx context.Context, failed error) []history.Event {
	if r.options.DryRun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	at := r.now()
	m := &eventlog.Log{Store: r.repository.Store, Keep: r.options.KeepHistory, Now: r.now}
	outboxes := []*record.Outbox{r.runner.pools.Outbox(), r.runner.budgets.Outbox(), r.runner.stock.Outbox()}
	var events []history.Event
	for _, o := range outboxes {
		events = append(events, o.Take()...)
	}
	failures := r.failures(ctx, at, failed)
	all := slices.Concat(failures, events)
	added := m.Add(ctx, all...)
	if added.Unreported > 0 {
		r.unreported = failures
	} else {
		for _, o := range outboxes {
			o.Confirm(events)
		}
	}
	r.warnings.Warn(added.Warnings...)
	if why := added.Dropped.Reason(); !why.IsZero() {
		r.warnings.Warn(why)
	}
	return all
}

// withoutRepeated leaves out failures that the last run had, too: a failure is an event when it begins, and when
// its reason changes.
func (r *run) withoutRepeated(ctx context.Context, failures []history.Event) []history.Event {
	if len(failures) == 0 {
		return nil
	}
	last := r.lastSummary(ctx).Value.Failing
	return slices.DeleteFunc(failures, func(e history.Event) bool {
		return (e.Kind == history.Failed || e.Kind == history.RunFailed) && last.Of(e.Object).Repeats(*e.Error)
	})
}

func (r *run) failures(ctx context.Context, at time.Time, failed error) []history.Event {
	about := func(object, uid string) history.About {
		return history.About{At: at, Object: object, ObjectUID: uid, RunID: r.report.RunID, Actor: r.repository.Actor}
	}
	failure := func(object, uid string, e *outcome.ErrorReport) history.Event {
		of := about(object, uid)
		of.Reasons = reasonsOf(e)
		return of.Failed(historyError(e))
	}
	report := r.finished()
	var events []history.Event
	if failed != nil {
		of, e := about(history.Run, ""), outcome.NewErrorReport(failed)
		of.Reasons = reasonsOf(e)
		events = append(events, of.RunFailed(historyError(e)))
	}
	uids := map[string]string{}
	for _, p := range report.SpotPools {
		object := "spot_pool/" + p.Region + "/" + p.Name
		uids[object] = p.UID
		if p.Outcome == outcome.Failed && p.Error != nil {
			events = append(events, failure(object, p.UID, p.Error))
		}
	}
	for _, b := range report.Budgets {
		if b.Outcome == outcome.Failed && b.Error != nil {
			events = append(events, failure("budget/"+b.Name, b.UID, b.Error))
		}
	}
	for _, p := range report.StockPools {
		if p.Outcome == outcome.Failed && p.Error != nil {
			events = append(events, failure(p.Summary().Object(), p.UID, p.Error))
		}
	}
	for _, d := range report.Decisions {
		if of, ok := d.Decision.(spotpool.Decision); ok && of.Kind == spotpool.KindLaunch && d.Outcome == outcome.Short && d.Error != nil {
			events = append(events, refused(about(of.Object, uids[of.Object]), of, *d.Error))
		}
	}
	events = r.withoutRepeated(ctx, events)
	if more := len(events) - failuresListed; more > 0 {
		rest := about(history.Run, "").Failed(history.Error{Message: fmt.Sprintf("%d more failed or were refused in this run", more)})
		rest.Count = more
		events = append(events[:failuresListed], rest)
	}
	return events
}

func refused(about history.About, d spotpool.Decision, why outcome.ErrorReport) history.Event {
	about.Reasons = d.Reasons
	return about.Refused(history.Ask{
		Sequence: int(d.Sequence), WrittenAt: about.At, Count: d.Count, ChargeType: string(d.ChargeType), Price: d.Price.Text(),
		Currency: string(d.Currency),
		Offering: history.Offering{AvailabilityZone: d.Offering.AvailabilityZone, InstanceType: d.Offering.InstanceType, SubnetID: d.Offering.SubnetID},
	}, historyError(&why))
}

// reasonsOf returns the reason of an error, if it has one.
func reasonsOf(e *outcome.ErrorReport) reason.Reasons {
	if e.Reason.IsZero() {
		return nil
	}
	return reason.Reasons{e.Reason}
}

func historyError(e *outcome.ErrorReport) history.Error {
	return history.Error{Class: string(e.Class), Code: e.Code, Message: e.Message, RequestID: e.RequestID, Remedy: e.Remedy}
}
