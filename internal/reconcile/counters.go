package reconcile

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// count returns counters with the events of the history and the finished jobs. If they cannot be
// read, the next run counts them.
func (r *run) count(ctx context.Context, c declaration.Counters) declaration.Counters {
	if r.notifications != nil {
		c = c.CountMessages(r.notifications.Counts(), !r.notifiedUntil.IsZero())
	}
	finished, listed := r.jobs.Finished()
	if r.options.DryRun || !listed {
		return c
	}
	tally := declaration.Tally{}
	for n := range finished {
		tally.AddJob(finished[n])
	}
	log := r.repository.History(r.now)
	for _, day := range c.DaysToCount(r.now(), r.events) {
		query := history.Query{Kinds: declaration.CountedKinds(), Since: day.Begin(), Until: day.Next().Begin()}
		_, err := log.Walk(ctx, query, func(e *history.Event) error {
			tally.Add(e)
			return nil
		})
		if err != nil {
			r.warnings.Warn(reason.CountersLack(reason.Word(day), reason.Failure(err)))
			return c
		}
	}
	return c.Count(r.now(), tally)
}
