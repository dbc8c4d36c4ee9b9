package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Effects does what jobs request. Each effect has an ID, and happens once however often it is
// repeated. An error with a Refusal is final; after others the next run repeats it.
type Effects interface {
	// Grant adds hours to a budget until the request expires. repeated says that an earlier run may
	// have granted them.
	Grant(ctx context.Context, budget, hours string, ask exception.Request, repeated bool) (Effect, error)
	// Hold pauses the reconciliation of a pool.
	Hold(ctx context.Context, pool string, ask exception.Request, repeated bool) (Effect, error)
	// StockPool records a stock pool, for this run to create. It calls check unless the store has it.
	StockPool(ctx context.Context, d stockpool.Declaration, check func(context.Context) error) error
	// Withdraw begins the deletion of a stock pool that StockPool recorded, if it did.
	Withdraw(ctx context.Context, d stockpool.Declaration) error
	// Delete begins the deletion of a requested stock pool, unless it is gone.
	Delete(ctx context.Context, pool Deletion) error
	// Deleted reports whether a stock pool is gone, and the effect of its deletion.
	Deleted(ctx context.Context, pool Deletion) (done Effect, gone bool, err error)
}

// Effect is what was done.
type Effect struct {
	Reasons  reason.Reasons
	EventIDs []string
}

// Deletion identifies a stock pool to delete. Another one of its name is left.
type Deletion struct{ Namespace, Name, UID string }

func deletionOf(job declaration.Job) Deletion {
	namespace, name, _ := strings.Cut(job.Request.Delete.StockPool, "/")
	return Deletion{namespace, name, job.EffectID}
}

// Run is the part of a run that does jobs. The run lock must be held: a job that another run claimed
// is one that it was killed with.
type Run struct {
	Queue
	RunID   string
	Effects Effects
	Warn    func(...reason.Reason)

	listed   bool
	finished []request.Job // when the run began
	claimed  []*claim
	done     []request.Job
}

// Finished returns all finished jobs of the store, including those that the run completed. It
// returns false if the jobs could not be listed.
func (r *Run) Finished() ([]request.Job, bool) {
	if r == nil || !r.listed {
		return nil, false
	}
	return slices.Concat(r.finished, r.done), true
}

// claim is a job that the run does.
type claim struct {
	stored
	repeated bool // an earlier run may have done it
	open     bool // its result depends on the rest of the run
}

// Waiting returns the jobs that a run would do.
func (r *Run) Waiting(ctx context.Context) []request.Job {
	all, unreadable, err := r.list(ctx)
	r.warn(append(unreadable, err)...)
	var waiting []request.Job
	for _, job := range all {
		if of := job.Value; !of.State.Finished() && (of.State == request.Running || !of.Overdue(r.Repository.Now())) {
			waiting = append(waiting, of.Public())
		}
	}
	return waiting
}

// Begin claims all jobs and does them, as far as they do not need the rest of the run. It also
// expires queued jobs, and deletes finished ones that are old.
func (r *Run) Begin(ctx context.Context) {
	all, unreadable, err := r.list(ctx)
	r.warn(append(unreadable, err)...)
	r.listed = err == nil
	for _, job := range all {
		if job.Value.State.Finished() {
			r.finished = append(r.finished, job.Value.Public())
		}
	}
	for _, job := range all {
		if ctx.Err() != nil {
			return
		}
		err := r.begin(ctx, job)
		if err != nil && !errors.Is(err, store.ErrConflict) { // else it was canceled, and stays so
			r.Warn(reason.JobContinues(reason.Word(job.Value.ID), reason.Failure(err)))
			return
		}
	}
}

func (r *Run) begin(ctx context.Context, job stored) error {
	now, value := r.Repository.Now(), job.Value
	overdue := value.Overdue(now)
	switch {
	case value.State.Finished() && overdue:
		return record.Remove(ctx, r.Repository.Store, store.Jobs, value.ID, job.Revision)
	case value.State.Finished():
		return nil
	case overdue:
		return r.complete(ctx, &claim{stored: job}, request.Expired, Effect{Reasons: reason.Reasons{reason.NotClaimed()}}, nil)
	}
	c := &claim{repeated: value.State == request.Running}
	var err error
	if value.Job, err = value.To(request.Running, now); err != nil {
		return err
	}
	value.RunID, value.EffectID = r.RunID, cmp.Or(value.EffectID, record.NewID())
	if c.stored, err = r.save(ctx, job, value); err != nil {
		return err
	}
	r.claimed = append(r.claimed, c)
	return r.do(ctx, c)
}

// do does a claimed job, or leaves it open.
func (r *Run) do(ctx context.Context, c *claim) error {
	job := c.Value
	switch job.Type {
	case request.TypeGrant:
		g := job.Request.Grant
		done, err := r.Effects.Grant(ctx, g.Budget, g.GPUHours, r.exception(c, g.Span, g.Reason), c.repeated)
		return r.result(ctx, c, done, err)
	case request.TypeHold:
		h := job.Request.Hold
		done, err := r.Effects.Hold(ctx, h.Pool, r.exception(c, h.Span, h.Reason), c.repeated)
		return r.result(ctx, c, done, err)
	case request.TypeStockPool:
		if job.Error != nil { // an earlier run was killed while it withdrew the pool
			return r.withdraw(ctx, c)
		}
		d := declarationOf(job)
		if err := r.Effects.StockPool(ctx, d, func(ctx context.Context) error { return r.checkLimits(ctx, job) }); err != nil {
			return r.result(ctx, c, Effect{}, err)
		}
	case request.TypeDelete:
		if err := r.Effects.Delete(ctx, deletionOf(job)); err != nil {
			return r.result(ctx, c, Effect{}, err)
		}
	}
	c.open = true
	return nil
}

func (r *Run) exception(c *claim, s request.Span, reason string) exception.Request {
	return exception.Request{ID: c.Value.EffectID, For: s.End(c.Value.RequestedAt).Sub(r.Repository.Now()), Who: c.Value.RequestedBy, Why: reason}
}

// result completes a job with an effect or an error. After an error that is not final, the job
// stays claimed, and the next run repeats it; after a day it fails.
func (r *Run) result(ctx context.Context, c *claim, done Effect, err error) error {
	switch {
	case err == nil:
		return r.complete(ctx, c, request.Succeeded, done, nil)
	case RefusalOf(err) != "", r.late(c) && ctx.Err() == nil:
		return r.complete(ctx, c, request.Failed, failed(done, err), &history.Error{Message: err.Error()})
	}
	r.Warn(reason.JobRepeated(reason.Word(c.Value.ID), reason.Object(c.Value.Object), reason.Failure(err)))
	return nil
}

// failed adds the reason of an error to what was done.
func failed(done Effect, err error) Effect {
	if why := reason.Of(err); !why.IsZero() {
		done.Reasons = append(done.Reasons, why)
	}
	return done
}

// complete records the result of a job.
func (r *Run) complete(ctx context.Context, c *claim, state request.State, done Effect, failed *history.Error) error {
	value := c.Value
	var err error
	if value.Job, err = value.To(state, r.Repository.Now()); err != nil {
		return err
	}
	value.Reasons, value.EventIDs, value.Error = done.Reasons, done.EventIDs, failed
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if c.stored, err = r.save(ctx, c.stored, value); err != nil {
		return err
	}
	r.done = append(r.done, value.Public())
	return nil
}

// Ending is the outcome of the rest of a run.
type Ending struct {
	// Interrupted says that the run was stopped before it was done.
	Interrupted bool
	// Done is what the run did as a whole, and Failed why it failed.
	Done   Effect
	Failed *history.Error
	// StockPool returns what the run did about the stock pool of a UID. The error says why the
	// cluster refused it. If neither is known, applied is false and there is no error.
	StockPool func(uid string) (done Effect, applied bool, refused *history.Error)
}

// Finish completes the jobs that depended on the rest of the run, and returns all jobs that the run
// completed. A job that stays claimed is repeated by the next run.
func (r *Run) Finish(ctx context.Context, e Ending) []request.Job {
	for _, c := range r.claimed {
		if !c.open {
			continue
		}
		if err := r.finish(ctx, c, e); err != nil {
			r.Warn(reason.JobCompleted(reason.Word(c.Value.ID), reason.Object(c.Value.Object), reason.Failure(err)))
		}
	}
	return r.done
}

func (r *Run) finish(ctx context.Context, c *claim, e Ending) error {
	switch c.Value.Type {
	case request.TypeRun:
		return r.finishRun(ctx, c, e)
	case request.TypeDelete:
		return r.finishDeletion(ctx, c, e)
	default:
		return r.finishStockPool(ctx, c, e)
	}
}

func (r *Run) finishRun(ctx context.Context, c *claim, e Ending) error {
	switch {
	case e.Interrupted:
		return nil
	case e.Failed != nil:
		return r.complete(ctx, c, request.Failed, e.Done, e.Failed)
	}
	return r.complete(ctx, c, request.Succeeded, e.Done, nil)
}

// finishDeletion completes a job once its stock pool is gone. Until then each run continues.
func (r *Run) finishDeletion(ctx context.Context, c *claim, e Ending) error {
	done, gone, err := r.Effects.Deleted(ctx, deletionOf(c.Value))
	switch {
	case err != nil:
		return r.result(ctx, c, done, err)
	case gone:
		return r.complete(ctx, c, request.Succeeded, done, nil)
	case e.Interrupted || !r.late(c):
		return nil
	}
	return r.complete(ctx, c, request.Failed, done, &history.Error{
		Message: fmt.Sprintf("it is not deleted after %s: runs continue its deletion", request.QueuedLifetime),
	})
}

// late reports whether a job takes too long.
func (r *Run) late(c *claim) bool {
	return r.Repository.Now().Sub(c.Value.RequestedAt) >= request.QueuedLifetime
}

func (r *Run) finishStockPool(ctx context.Context, c *claim, e Ending) error {
	done, applied, refused := e.StockPool(c.Value.EffectID)
	switch {
	case applied:
		return r.complete(ctx, c, request.Succeeded, done, nil)
	case refused == nil && !r.late(c) || e.Interrupted:
		return nil
	case refused == nil:
		refused = &history.Error{Message: fmt.Sprintf("it was not applied within %s", request.QueuedLifetime)}
	}
	// The reason is recorded first: after a kill, the next run withdraws the pool, and does not
	// create it.
	value := c.Value
	value.Error, value.Reasons = refused, done.Reasons
	var err error
	if c.stored, err = r.save(ctx, c.stored, value); err != nil {
		return err
	}
	return r.withdraw(ctx, c)
}

// withdraw fails a job whose stock pool was not applied, and begins the deletion of that.
func (r *Run) withdraw(ctx context.Context, c *claim) error {
	if err := r.Effects.Withdraw(ctx, declarationOf(c.Value)); err != nil {
		r.Warn(reason.JobWithdrawn(reason.Word(c.Value.ID), reason.Object(c.Value.Object), reason.Failure(err)))
		return nil
	}
	return r.complete(ctx, c, request.Failed, Effect{Reasons: c.Value.Reasons}, c.Value.Error)
}

func (r *Run) warn(errs ...error) {
	for _, err := range errs {
		if err != nil {
			r.Warn(reason.Explain(err))
		}
	}
}
