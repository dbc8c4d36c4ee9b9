package budgets

import (
	"context"
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
)

// about returns the common part of the events about a budget.
func (f *Flow) about(d budget.Declaration) history.About {
	about := d.About(f.now())
	about.Actor = f.Repository.Actor
	return about
}

// note adds events that are in no document.
func (f *Flow) note(events ...history.Event) {
	f.outbox.Note(f.outbox.Sign(events, f.Repository.Actor)...)
}

// reportLeft reports the events in statuses to the history, which may lack them.
func (k *kind) reportLeft(ctx context.Context, previous map[string]previousStatus) {
	var leftOut reason.Reasons
	for name, s := range previous {
		k.flow.outbox.Note(s.document.Value.Unreported...)
		if n := s.document.Value.LeftOut; n > 0 {
			leftOut = append(leftOut, history.LeftOut("budget/"+name, "a status", n))
		}
	}
	added := k.flow.Repository.ReportAfter(ctx, &k.flow.outbox, k.flow.Clock, k.warnings.Warn)
	if added.Events == 0 { // all were reported before
		return
	}
	k.warnings.Warn(leftOut...)
}

// reportLoss reports lost documents of the ledger, and those that were accepted in this run.
func (k *kind) reportLoss(b *accounting.Books) {
	about := history.About{At: b.Now(), Object: history.Run, ObjectUID: b.Ledger().Header.ClusterUID, ClusterUID: b.Ledger().Header.ClusterUID}
	for _, loss := range b.Ledger().Header.Lost {
		switch {
		case !loss.Accepted.IsSet():
			k.flow.note(about.Lost(loss.Document, history.Error{Message: loss.Reason}))
		case k.options.AcceptLoss != "" && loss.Accepted.At.Time().Equal(b.Now()):
			accepted := about
			accepted.Outcome, accepted.Reasons = "accepted", reason.Reasons{reason.AcceptedBecause(reason.NewForeign(k.options.AcceptLoss))}
			k.flow.note(accepted.Lost("accepted: "+loss.Document, history.Error{Message: loss.Reason}))
		}
	}
}

// reportLast reports the events in the last status of a destroyed budget, what was lifted, and the
// destruction.
func (f lifter) reportLast(ctx context.Context, d budget.Declaration, last budget.Status, resumed []budget.Workload) error {
	tombstone, err := f.Repository.Tombstone(ctx, d.UID)
	if err != nil {
		return err
	}
	if !tombstone.Exists() {
		return errors.New("the tombstone of " + d.Object() + " is gone")
	}
	if last.UID != d.UID {
		last = budget.Status{}
	}
	f.note(decide.Lifted(last, d, resumed, true, reason.BudgetDestroyed(), tombstone.Value.DestroyedAt, f.now())...)
	f.report(ctx)
	return nil
}
