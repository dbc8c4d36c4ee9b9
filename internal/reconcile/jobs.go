package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Jobs returns the queue of the store, without limits.
func (w World) Jobs() jobs.Queue { return jobs.Queue{Repository: w.repository()} }

// beginJobs claims and does the queued jobs. A dry run only lists them. A run that is limited by
// names leaves them queued: it does not reconcile all objects, as a job may need.
func (r *run) beginJobs(ctx context.Context) {
	r.jobs = &jobs.Run{
		Queue: jobs.Queue{Repository: r.repository}, RunID: r.report.RunID, Effects: effects{r.runner}, Warn: r.warnings.Warn,
	}
	switch {
	case r.options.DryRun:
		r.report.Jobs = r.jobs.Waiting(ctx)
	case len(r.options.Names) == 0:
		r.jobs.Begin(ctx)
	}
}

// finishJobs records the results of jobs. failed is why the run failed as a whole.
func (r *run) finishJobs(ctx context.Context, failed error, events []history.Event) {
	if r.jobs == nil || r.options.DryRun {
		return
	}
	report := r.finished()
	e := jobs.Ending{Interrupted: r.interrupted || ctx.Err() != nil, Done: r.whole(report, events), StockPool: report.stockPoolOf}
	if failed != nil {
		why := outcome.NewErrorReport(failed)
		e.Failed, e.Done.Reasons = new(historyError(why)), append(reasonsOf(why), e.Done.Reasons...)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishingJobs)
	defer cancel()
	r.report.Jobs = r.jobs.Finish(ctx, e)
}

// finishingJobs is how long the results of all jobs may take to record.
const finishingJobs = time.Minute

// eventsListed limits the events of one job.
const eventsListed = 100

// whole is what a run did as a whole, for a job that requested it.
func (r *run) whole(report Report, events []history.Event) (done jobs.Effect) {
	failed, rest := report.Failures()
	objects, decisions := failed+rest, len(report.Decisions)
	done.Reasons = reason.Reasons{reason.Reconciled(reason.Count(objects), reason.Count(failed), reason.Count(decisions))}
	for _, e := range events {
		if e.RunID == report.RunID && len(done.EventIDs) < eventsListed {
			done.EventIDs = append(done.EventIDs, e.ID)
		}
	}
	return done
}

// stockPoolOf is what a run did about a requested stock pool. It is applied once it has a
// Deployment with its declaration. A failure for the time being is neither.
func (r Report) stockPoolOf(uid string) (done jobs.Effect, applied bool, refused *history.Error) {
	n := slices.IndexFunc(r.StockPools, func(p stockpools.Report) bool { return p.UID == uid })
	if n < 0 {
		return done, false, nil
	}
	p := r.StockPools[n]
	switch {
	case p.Outcome == outcome.Failed && p.Error != nil:
		if p.Error.Class != errorclass.Transient {
			done.Reasons, refused = reasonsOf(p.Error), new(historyError(p.Error))
		}
		return done, false, refused
	case p.Status == nil || p.DeploymentUID == "" || p.ObservedGeneration == 0 || p.Outcome == outcome.Skipped:
		return done, false, nil
	}
	done.Reasons = reason.Reasons{
		reason.AppliedDeployment(reason.Word(p.DeploymentUID), reason.Word(p.Phase), reason.Count(p.Replicas), reason.Count(p.Desired)),
	}
	done.EventIDs = []string{history.About{Object: p.Summary().Object(), ObjectUID: uid}.Declaration(history.Create).ID}
	return done, true, nil
}

// effects does what jobs request.
type effects struct{ runner *Runner }

func (e effects) Grant(ctx context.Context, budget, hours string, ask exception.Request, repeated bool) (done jobs.Effect, err error) {
	d, err := e.runner.budgets.Find(ctx, budget)
	if err != nil {
		return done, err
	}
	event := d.About(time.Time{}).Exception(history.Grant, ask.ID, time.Time{}).ID
	if repeated && e.reported(ctx, d.Object(), event) {
		return jobs.Effect{Reasons: reason.Reasons{reason.GrantedEarlier()}, EventIDs: []string{event}}, nil
	}
	granted, err := e.runner.budgets.Grant(ctx, budget, hours, ask)
	if err != nil {
		return done, err
	}
	g := granted.Grants[0]
	why := reason.GrantedUntil(reason.Amount(g.GPUHours), reason.Word(g.Who), reason.Instant{Time: g.Until.UTC()}, reason.NewForeign(g.Why))
	return jobs.Effect{Reasons: reason.Reasons{why}, EventIDs: []string{event}}, nil
}

func (e effects) Hold(ctx context.Context, pool string, ask exception.Request, repeated bool) (done jobs.Effect, err error) {
	r, err := record.SpotPools(e.runner.world.repository()).Find(ctx, pool)
	if err != nil {
		return done, err
	}
	d := r.Value.Declaration
	event := history.About{Object: d.Object(), ObjectUID: d.UID}.Exception(history.Hold, ask.ID, time.Time{}).ID
	if repeated && e.reported(ctx, d.Object(), event) {
		return jobs.Effect{Reasons: reason.Reasons{reason.HeldEarlier()}, EventIDs: []string{event}}, nil
	}
	held, err := e.runner.pools.Hold(ctx, pool, ask)
	if err != nil {
		return done, err
	}
	h := held.Holds[0]
	why := reason.HeldUntil(reason.Word(h.Who), reason.Instant{Time: h.Until.UTC()}, reason.NewForeign(h.Why))
	done = jobs.Effect{Reasons: reason.Reasons{why}, EventIDs: []string{event}}
	if held.Busy != "" {
		done.Reasons = append(done.Reasons, reason.HeldLate(reason.NewForeign(held.Busy)))
	}
	return done, nil
}

// reported reports whether the history has an event, which an earlier run reported before it was
// killed. Its grant or hold may be released since.
func (e effects) reported(ctx context.Context, object, id string) bool {
	w := e.runner.world
	now := w.Now()
	answer, err := w.repository().History(w.clock()).Ask(ctx, history.Query{
		Of: func(of string) bool { return of == object }, Since: now.Add(-2 * request.QueuedLifetime), Until: now.Add(time.Hour),
	})
	return err == nil && slices.ContainsFunc(answer.Events, func(e history.Event) bool { return e.ID == id })
}

func (e effects) StockPool(ctx context.Context, d stockpool.Declaration, check func(context.Context) error) error {
	return e.runner.stock.Request(ctx, d, check)
}

func (e effects) Withdraw(ctx context.Context, d stockpool.Declaration) error {
	err := e.runner.stock.Withdraw(ctx, d)
	var managed *request.ManagedError
	if errors.As(err, &managed) { // it was imported, and is no longer that of the job
		return nil
	}
	return err
}

func declarationOf(d jobs.Deletion) stockpool.Declaration {
	return stockpool.Declaration{Namespace: d.Namespace, Name: d.Name, UID: d.UID}
}

func (e effects) Delete(ctx context.Context, pool jobs.Deletion) error {
	return e.runner.stock.Withdraw(ctx, declarationOf(pool))
}

func (e effects) Deleted(ctx context.Context, pool jobs.Deletion) (done jobs.Effect, gone bool, err error) {
	d := declarationOf(pool)
	if gone, err = e.runner.stock.Gone(ctx, d); !gone || err != nil {
		return done, false, err
	}
	done.Reasons = reason.Reasons{reason.DeletedObject(reason.Object(d.Object()))}
	done.EventIDs = []string{history.About{Object: d.Object(), ObjectUID: d.UID}.Declaration(history.Delete).ID}
	return done, true, nil
}
