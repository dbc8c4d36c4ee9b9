package reconcile

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// claimNotifications writes the events of the run into the journals of notifications. It does so
// before the run is recorded, so that a killed run leaves them to the next one. failed is the error of
// the whole run.
func (r *run) claimNotifications(ctx context.Context, failed error) {
	if r.options.DryRun || r.runner.world.Sender == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	at := r.now().UTC().Truncate(time.Second)
	r.notifications = &notifications.Run{Flow: r.runner.world.Notifications(), Warn: r.warnings.Warn}
	c := notifications.Claiming{
		Found: r.events, Present: r.present(),
		Last: func(ctx context.Context) declaration.RunSummary { return r.lastSummary(ctx).Value },
	}
	if failed == nil && !r.interrupted && len(r.options.Names) == 0 {
		c.Failing = r.failing()
	}
	if r.notifications.Claim(ctx, c) {
		r.notifiedUntil = at
	}
}

// failing returns what failed in a run of all. What was skipped counts as failing, since it is unknown.
func (r *run) failing() func(object string) bool {
	failing := map[string]bool{history.Run: false}
	for _, s := range r.finished().Declarations() {
		failing[s.Object()] = s.Outcome == outcome.Failed || s.Outcome == outcome.Skipped
	}
	return func(object string) bool {
		fails, known := failing[object]
		return fails || !known
	}
}

// present returns what the run found about conditions that can last.
func (r *run) present() notification.Present {
	found, report := notification.Present{}, r.finished()
	for _, s := range report.Declarations() {
		if s.Outcome == outcome.Failed && s.Error != nil {
			found[notification.ConditionOf(s.Object(), history.Failed)] = reason.Reasons{notification.ErrorOf(historyError(s.Error))}
		}
	}
	for _, b := range report.Budgets {
		found[notification.ConditionOf(b.Summary().Object(), history.Exceeded)] = b.Outlook()
	}
	for _, p := range report.SpotPools {
		object := p.Summary().Object()
		if p.Gate != nil && p.Gate.Closed {
			found[notification.ConditionOf(object, history.GateClosed)] = reason.Reasons{p.Gate.Reason}
		}
		if p.Nodes != nil && !p.Nodes.ReplacingSuspended.IsZero() {
			found[notification.ConditionOf(object, history.Suspend)] = reason.Reasons{p.Nodes.ReplacingSuspended}
		}
	}
	return found
}

// deliverNotifications sends what is due, after the run was recorded.
func (r *run) deliverNotifications(ctx context.Context) {
	if r.notifications != nil && !r.interrupted && ctx.Err() == nil {
		r.report.Notifications = r.notifications.Deliver(ctx)
	}
}
