package reconcile

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
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
	r.notifications = &notifications.Run{Flow: r.runner.world.Notifications(), Warn: r.warnings.Add}
	c := notifications.Claiming{
		Found: r.events,
		Last:  func(ctx context.Context) declaration.RunSummary { return r.lastSummary(ctx).Value },
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

// deliverNotifications sends what is due, after the run was recorded.
func (r *run) deliverNotifications(ctx context.Context) {
	if r.notifications != nil && !r.interrupted && ctx.Err() == nil {
		r.report.Notifications = r.notifications.Deliver(ctx)
	}
}
